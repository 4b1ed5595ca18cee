from elmo_plugin.common.nested_values import values_in


def test_objects_and_lists_come_before_the_values_in_them() -> None:
    config = {"a": [{"b": 1}, "c"], "d": {}}
    assert list(values_in(config, keys=("root",))) == [
        (("root",), config),
        (("root", "a"), [{"b": 1}, "c"]),
        (("root", "a", 0), {"b": 1}),
        (("root", "a", 0, "b"), 1),
        (("root", "a", 1), "c"),
        (("root", "d"), {}),
    ]


def test_values_that_are_removed_from_a_yielded_object_are_not_visited() -> None:
    config = {"a": {"removed": 1, "kept": 2}}
    visited = []
    for keys, value in values_in(config):
        visited.append(keys)
        if isinstance(value, dict):
            value.pop("removed", None)
    assert visited == [(), ("a",), ("a", "kept")]
