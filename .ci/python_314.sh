#!/usr/bin/env bash
# Installs the wheel with AllenNLP on Python 3.14, predicts with the six models, and trains and uses a tagger:
#
#     .ci/python_314.sh WORK dist/elmo_plugin-*.whl
#
# WORK is a new folder. The interpreter is one that is installed here. If there is none, it is Debian sid's, which root
# gets by debootstrap. Where neither can be had, or after five minutes, one line says that this was skipped: a slow or
# missing network is no failure.
set -euo pipefail
mkdir -p "$1"
work=$(realpath "$1") wheel=$(realpath "$2")
cd "$work" # outside the repository, whose pins would count otherwise

uv() { python3 -m uv "$@"; }

skip() {
    echo "Python 3.14 was skipped: $1"
    exit 0
}

# Runs a command, and ends it with status 124 when five minutes have passed since this program started.
limited() {
    local left=$((300 - SECONDS))
    timeout "$((left > 1 ? left : 1))" "$@"
}

# Prints the path of an installed interpreter, if there is one. A name on the PATH may be pyenv's, without a program.
installed() {
    local python
    for python in python3.14 "$(uv python find --no-python-downloads 3.14)" "$(pyenv prefix 3.14)/bin/python"; do
        if "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 14))'; then
            command -v "$python"
            return
        fi
    done
    return 1
} 2> /dev/null

# Makes a folder with Debian sid and its Python 3.14, in which a process of root can run.
debian() {
    test "$(id -u)" = 0 || skip "no interpreter, and only root can install Debian in a folder"
    if ! command -v debootstrap > /dev/null; then
        limited apt-get install -qq -y --no-install-recommends debootstrap > apt.log 2>&1 ||
            skip "no interpreter, and no debootstrap"
    fi
    limited debootstrap --variant=minbase --include=python3.14 sid debian > debootstrap.log 2>&1 ||
        skip "no interpreter, and debootstrap did not install one"
}

# Installs the wheel and AllenNLP by `uv pip install` with the given options: they say where.
install() {
    get "$@" "$wheel[allennlp]"
    get --no-deps "$@" allennlp==2.10.1
}

# Fails if a package has no build for this Python. Without a network, this step is skipped: then even the small package
# `overrides` cannot be had.
get() {
    local status=0
    limited python3 -m uv pip install -q --only-binary :all: "$@" || status=$?
    test "$status" = 0 && return
    test "$status" != 124 || skip "packages were not installed after five minutes"
    limited python3 -m uv pip install -q --target probe overrides || skip "no network"
    exit 1
}

cat > steps.sh << 'END'
set -euo pipefail

# Runs a module, which must not write to standard error, and shows what it printed.
run() {
    echo "$*"
    "$PYTHON" -m "$@" > output 2> errors || { cat output errors; return 1; }
    cat output
    if [ -s errors ]; then
        echo "on standard error:"
        cat errors
        return 1
    fi
}

run elmo_plugin predict ner 'Ada moved to Lisbon.'
grep -qF '[Ada]PER moved to [Lisbon]LOC.' output
run elmo_plugin predict srl 'Ada moved to Lisbon.'
grep -qF '[moved]V' output
run elmo_plugin predict coref 'Ada moved to Lisbon. She liked it.'
run elmo_plugin predict squad 'Ada moved to Lisbon in 1910.' 'Where did Ada move?'
grep -qF Lisbon output
run elmo_plugin predict snli 'A man sleeps on a sofa.' 'A man is asleep.'
grep -qF entailment output
run elmo_plugin predict sst 'I love this film.'
run elmo_plugin new ner project --bilm tiny
cd project
run allennlp train config.jsonnet -s run -o '{"trainer.num_epochs": 1}'
run allennlp predict run/model.tar.gz inputs.jsonl
grep -qF '"tags"' output
END

variables=(OMP_NUM_THREADS=1 LANG=C.UTF-8)
if found=$(installed); then
    uv venv -q --python "$found" environment
    install --python environment/bin/python
    run_steps=(env -i "${variables[@]}" HOME="$work" PATH="$PATH" PYTHON="$work/environment/bin/python" bash steps.sh)
else
    debian
    install --target debian/usr/local/lib/python3.14/dist-packages --python-version 3.14 \
        --python-platform "$(uname -m)-manylinux_2_28"
    mv steps.sh debian/root
    # torch reads /proc. It is mounted for these processes alone, so that nobody removes it with the folder.
    unshare --mount mount -t proc proc debian/proc || skip "no /proc in a folder"
    run_steps=(
        unshare --mount sh -c 'mount -t proc proc debian/proc && exec chroot debian "$@"' sh
        env -i "${variables[@]}" HOME=/root PATH=/usr/bin:/bin PYTHON=python3.14 sh -c 'cd && exec bash steps.sh'
    )
fi
status=0
limited "${run_steps[@]}" || status=$?
test "$status" != 124 || skip "its steps were not done after five minutes"
exit "$status"
