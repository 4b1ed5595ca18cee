"""One file reads, and writes, each format of files, in a checked way."""
