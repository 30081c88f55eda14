"""Jails as Docker containers: no network, read-only root, one bind mount, no capability but to switch users and to end
the tests that run as them."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from errno import EACCES
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker
import requests
from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from docker.types import LogConfig, Ulimit

from sandbox.errors import SandboxUnavailable
from sandbox.jail import AGENT_ENVIRONMENT, MOUNT_POINT, agent_command
from sandbox.processes import is_alive, namespace, start_time
from sandbox.programs import MIB

if TYPE_CHECKING:
    from docker.models.containers import Container

DEFAULT_IMAGE = os.environ.get("LIVE_SANDBOX_IMAGE", "livecut-sandbox:0.1")
OWNER_LABEL = "livecut.jail.owner"

# The walls of the container as a whole; the limits of a test are below them and are kept by the agent.
CONTAINER_MEMORY_BYTES = 5 * 1024 * MIB
_STACK_BYTES = 512 * MIB
_PIDS = 128
_SCRATCH_OPTIONS = "rw,noexec,nosuid,nodev,size=64m,nr_inodes=65536,mode=1777"

_NO_DAEMON_HINT = "start Docker (systemctl start docker), or use --executor bubblewrap"


@contextlib.contextmanager
def _said_plainly() -> Iterator[None]:
    """Turn the client library's errors into one line."""
    try:
        yield
    except ImageNotFound as error:
        raise SandboxUnavailable(
            f"the sandbox image is not there: {error.explanation}", "build it: make image"
        ) from error
    except APIError as error:
        raise SandboxUnavailable(f"Docker refused a jail: {error.explanation or error}", "see docker info") from error
    except (DockerException, requests.RequestException) as error:
        raise SandboxUnavailable(f"Docker does not answer: {error}", _NO_DAEMON_HINT) from error


def _require_daemon() -> None:
    """Say at once, and why, when nothing listens on a local daemon's socket or this user may not use it.

    The client library leaves a socket open when it cannot connect.
    """
    address = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    if not address.startswith("unix://"):
        return
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(address.removeprefix("unix://"))
        except OSError as error:
            hint = "join the group docker, or use --executor bubblewrap" if error.errno == EACCES else _NO_DAEMON_HINT
            raise SandboxUnavailable(f"Docker does not answer at {address}: {error.strerror}", hint) from error


class DockerEnclosure:
    """One running container."""

    def __init__(self, container: Container) -> None:
        self._container = container

    def describe_end(self) -> str:
        """Its state when it does not run; empty while it does."""
        try:
            self._container.reload()
        except NotFound:
            return "the container ended and was removed"
        except (DockerException, requests.RequestException) as error:
            return f"Docker does not answer: {error}"
        state = self._container.attrs["State"]
        return "" if state["Running"] else f"the container ended with exit code {state['ExitCode']}"

    def close(self) -> None:
        """Kill and remove the container; it may be on its way out by itself (auto-remove)."""
        try:
            self._container.remove(force=True)
        except NotFound:
            return
        except APIError as error:
            if error.status_code != 409:  # "removal in progress"
                raise SandboxUnavailable(f"a container could not be removed: {error}") from error
        except (DockerException, requests.RequestException) as error:
            raise SandboxUnavailable(f"Docker does not answer: {error}", _NO_DAEMON_HINT) from error


class DockerLauncher:
    """Starts jails on the Docker daemon that the environment names."""

    name = "docker"

    def __init__(self, image: str = DEFAULT_IMAGE) -> None:
        """Connect and find the image. Raises ``SandboxUnavailable``."""
        _require_daemon()
        with _said_plainly():
            self._client = docker.from_env(timeout=60)
        try:
            with _said_plainly():
                # Addressed by id from here on: a tag that moves meanwhile changes nothing.
                self._image_id = str(self._client.images.get(image).id)
            reap(self._client)
        except BaseException:
            self._client.close()
            raise

    def close(self) -> None:
        """Give the connection to the daemon back."""
        self._client.close()

    def details(self) -> dict[str, str]:
        """The image's content digest."""
        return {"image": self._image_id}

    def launch(self, directory: Path, uid_base: int) -> DockerEnclosure:
        """Start a container that sees ``directory``."""
        with _said_plainly():
            container = self._client.containers.create(**self._options(directory, uid_base))
            try:
                container.start()
            except BaseException:
                with contextlib.suppress(DockerException, requests.RequestException):
                    container.remove(force=True)
                raise
        return DockerEnclosure(container)

    def _options(self, directory: Path, uid_base: int) -> dict[str, Any]:
        return {
            "image": self._image_id,
            "command": agent_command(uid_base),
            "entrypoint": [],
            "user": "0:0",
            "environment": AGENT_ENVIRONMENT,
            "working_dir": "/tmp",
            "labels": {OWNER_LABEL: _owner()},
            "network_mode": "none",
            "ipc_mode": "none",
            "read_only": True,
            "cap_drop": ["ALL"],
            "cap_add": ["SETUID", "SETGID", "KILL"],
            "security_opt": ["no-new-privileges:true"],
            "pids_limit": _PIDS,
            "mem_limit": CONTAINER_MEMORY_BYTES,
            "memswap_limit": CONTAINER_MEMORY_BYTES,
            "ulimits": [Ulimit(name="stack", soft=_STACK_BYTES, hard=_STACK_BYTES)],
            "tmpfs": {"/tmp": _SCRATCH_OPTIONS},
            "volumes": {str(directory): {"bind": MOUNT_POINT, "mode": "ro"}},
            "log_config": LogConfig(type="none"),
            "auto_remove": True,
            "detach": True,
        }


def _owner() -> str:
    pid = os.getpid()
    return f"{namespace()}/{pid}/{start_time(pid)}"


def reap(client: docker.DockerClient) -> int:
    """Remove the containers that dead commands left; how many they were.

    Those of another machine, boot or pid namespace stay untouched: whether their command lives cannot be seen here.
    """
    removed = 0
    with _said_plainly():
        for container in client.containers.list(all=True, filters={"label": OWNER_LABEL}, ignore_removed=True):
            space, _, process = container.labels[OWNER_LABEL].partition("/")
            pid, _, started = process.partition("/")
            if space == namespace() and pid.isdigit() and not is_alive(int(pid), started):
                DockerEnclosure(container).close()
                removed += 1
    return removed
