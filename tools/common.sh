# shellcheck shell=bash disable=SC2034
# What the scripts in this folder share. Sourced by bash, never run by itself.
# Messages go to stderr; a failure is one line that says what, and one that says what to do.

SANDBOX_IMAGE=${LIVE_SANDBOX_IMAGE:-livecut-sandbox:0.1}
FULL_IMAGE=${LIVE_SANDBOX_FULL_IMAGE:-livecut-sandbox-full:0.1}
APP_IMAGE=${LIVE_APP_IMAGE:-livecut:0.1}

say() { printf '%s\n' "$*" >&2; }

fail() { # WHAT HINT: exit code 4, as the command's own "something needed is not there"
    say "error: $1"
    say "       $2"
    exit 4
}

is_root() { [ "$(id -u)" -eq 0 ]; }

quietly() { # COMMAND...: its output is shown only when it fails
    local output status=0
    output=$("$@" 2>&1 </dev/null) || status=$?
    [ "$status" -eq 0 ] || say "$output"
    return "$status"
}

install_packages() { # PURPOSE PACKAGE...: Debian packages; only root can
    local purpose=$1
    shift
    if ! command -v apt-get >/dev/null; then
        fail "$purpose is missing, and this system has no apt-get to install it with" "install by hand: $*"
    elif ! is_root; then
        fail "$purpose is missing, and only root can install it" "ask for: apt-get install $*    (then run the same command again)"
    fi
    say "installing $* ..."
    export DEBIAN_FRONTEND=noninteractive
    # A machine just set up has no package lists yet, one that is used has them: so try first.
    if ! apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 </dev/null; then
        quietly apt-get update -qq || fail "apt-get update failed" "see its messages above"
        quietly apt-get install -y -qq --no-install-recommends "$@" || fail "$* could not be installed" "see apt-get's messages above"
    fi
}

docker_answers() { command -v docker >/dev/null && timeout 20 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

recipe_of() { # IMAGE: what tools/build-image built it by; empty when it is not there or was not built by that
    docker image inspect --format '{{index .Config.Labels "livecut.recipe"}}' "$1" 2>/dev/null || true
}

bubblewrap_works() { # user namespaces may be switched off although bwrap is there
    command -v bwrap >/dev/null && bwrap --unshare-all --ro-bind / / true 2>/dev/null
}
