"""matplotlib, which is an extra: how to get it."""

HOW_TO_GET_MATPLOTLIB = "install elmo_plugin[figures], or matplotlib itself"
