"""Jails as Docker containers: no network, read-only root, at most one mount, no capability but to switch users and to
end the tests that run as them."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
from collections.abc import Iterator
from errno import EACCES
from typing import TYPE_CHECKING, Any

import docker
import requests
from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from docker.types import LogConfig, Ulimit

from sandbox.agent_files import AGENT_ENVIRONMENT, MOUNT_POINT, mounted_command, streamed_command, streamed_files
from sandbox.docker_stream import ContainerStream
from sandbox.errors import JailFault, SandboxUnavailable
from sandbox.frame_link import FrameLink
from sandbox.links import Link
from sandbox.mounts import Mount
from sandbox.processes import is_alive, namespace, start_time
from sandbox.programs import MIB

if TYPE_CHECKING:
    from docker.models.containers import Container

# The images by their short names; the variables name others in their place.
IMAGES = {
    "slim": os.environ.get("LIVE_SANDBOX_IMAGE", "livecut-sandbox:0.1"),
    "full": os.environ.get("LIVE_SANDBOX_FULL_IMAGE", "livecut-sandbox-full:0.1"),
}
OWNER_LABEL = "livecut.jail.owner"

# The walls of the container as a whole; the limits of a test are below them and are kept by the agent.
CONTAINER_MEMORY_BYTES = 5 * 1024 * MIB
_STACK_BYTES = 512 * MIB
_PIDS = 128
_SCRATCH_OPTIONS = "rw,noexec,nosuid,nodev,size=64m,nr_inodes=65536,mode=1777"

_LOCAL = "unix://"
_ATTACH = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
_NO_RUNTIME_HINT = (
    "install gVisor (apt-get install runsc) and name it in /etc/docker/daemon.json: "
    '{"runtimes": {"runsc": {"path": "/usr/bin/runsc", "runtimeArgs": ["--network=none"]}}}; then restart Docker'
)
_NO_DAEMON_HINT = "start Docker (systemctl start docker), or use --executor bubblewrap"


@contextlib.contextmanager
def said_plainly() -> Iterator[None]:
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


def daemon_address() -> str:
    """Where the daemon listens."""
    return os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"


def _require_daemon() -> None:
    """Say at once, and why, when nothing listens on a local daemon's socket or this user may not use it.

    The client library leaves a socket open when it cannot connect.
    """
    address = daemon_address()
    if not address.startswith(_LOCAL):
        return
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(address.removeprefix(_LOCAL))
        except OSError as error:
            hint = "join the group docker, or use --executor bubblewrap" if error.errno == EACCES else _NO_DAEMON_HINT
            raise SandboxUnavailable(f"Docker does not answer at {address}: {error.strerror}", hint) from error


def connect_daemon() -> docker.DockerClient:
    """A client of the daemon that the environment names. Raises ``SandboxUnavailable``."""
    _require_daemon()
    by_ssh = daemon_address().startswith("ssh://")
    if by_ssh and importlib.util.find_spec("paramiko") is None:
        raise SandboxUnavailable("the Docker client needs paramiko for ssh://", "install it: pip install 'docker[ssh]'")
    with said_plainly():
        return docker.from_env(timeout=60, use_ssh_client=by_ssh)


def image_id(client: docker.DockerClient, name: str) -> str | None:
    """The id of an image; None when the daemon does not have it. Raises ``SandboxUnavailable``."""
    with said_plainly():
        try:
            return str(client.images.get(name).id)
        except ImageNotFound:
            return None


class DockerEnclosure:
    """One running container, with the folder that it sees or the stream of its input and output."""

    def __init__(self, container: Container, mount: Mount | None, stream: ContainerStream | None) -> None:
        self._container = container
        self._mount = mount
        self._stream = stream

    def connect(self, timeout_s: float) -> Link:
        """The link to the agent. Raises ``JailFault``."""
        if self._mount is not None:
            return self._mount.accept(self.describe_end, timeout_s)
        assert self._stream is not None
        try:
            self._stream.send(streamed_files())
        except OSError as error:
            raise JailFault(f"the jail's agent did not start: {self.describe_end() or error}") from error
        return FrameLink(self._stream)

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
        """Kill and remove the container, and what is here of it."""
        try:
            remove(self._container)
        finally:
            if self._mount is not None:
                self._mount.close()
            if self._stream is not None:
                self._stream.close()


def remove(container: Container) -> None:
    """Kill and remove a container; it may be on its way out by itself (auto-remove). Raises ``SandboxUnavailable``."""
    try:
        container.remove(force=True)
    except NotFound:
        return
    except APIError as error:
        if error.status_code != 409:  # "removal in progress"
            raise SandboxUnavailable(f"a container could not be removed: {error}") from error
    except (DockerException, requests.RequestException) as error:
        raise SandboxUnavailable(f"Docker does not answer: {error}", _NO_DAEMON_HINT) from error


class DockerLauncher:
    """Starts jails on the Docker daemon that the environment names.

    The agent is reached through a socket in a mounted folder, and through the container's standard input and output
    where the daemon is not on this machine or the runtime lets no socket through.
    """

    name = "docker"
    kernel = ""
    runtime: str | None = None
    capabilities: tuple[str, ...] = ("SETUID", "SETGID", "KILL")
    pids = _PIDS
    always_by_stream = False

    def __init__(self, image: str | None = None) -> None:
        """Connect and find the image and the runtime. ``image`` is a key of :data:`IMAGES` or a name; None is what the
        variable ``LIVE_SANDBOX_IMAGE`` names, else the full one where it is, else the slim one. Raises
        ``SandboxUnavailable``."""
        self._by_stream = self.always_by_stream or not daemon_address().startswith(_LOCAL)
        self._client = connect_daemon()
        try:
            # Addressed by id from here on: a tag that moves meanwhile changes nothing.
            self._image_id = self._find_image(image)
            self._require_runtime()
            reap(self._client)
        except BaseException:
            self._client.close()
            raise

    def _find_image(self, image: str | None) -> str:
        if image is None and "LIVE_SANDBOX_IMAGE" not in os.environ:
            full = image_id(self._client, IMAGES["full"])
            if full is not None:
                return full
        with said_plainly():
            name = image or "slim"
            return str(self._client.images.get(IMAGES.get(name, name)).id)

    def _require_runtime(self) -> None:
        if self.runtime is None:
            return
        with said_plainly():
            runtimes = self._client.info().get("Runtimes") or {}
        if self.runtime not in runtimes:
            raise SandboxUnavailable(
                f"Docker has no runtime {self.runtime} (it has {', '.join(sorted(runtimes))})", _NO_RUNTIME_HINT
            )

    def close(self) -> None:
        """Give the connection to the daemon back."""
        self._client.close()

    def details(self) -> dict[str, str]:
        """The image's content digest."""
        return {"image": self._image_id}

    def launch(self, uid_base: int) -> DockerEnclosure:
        """Start a container. Raises ``SandboxUnavailable``."""
        mount = None if self._by_stream else Mount()
        try:
            with said_plainly():
                return self._start(mount, uid_base)
        except BaseException:
            if mount is not None:
                mount.close()
            raise

    def _start(self, mount: Mount | None, uid_base: int) -> DockerEnclosure:
        how = self._streamed(uid_base) if mount is None else self._mounted(mount, uid_base)
        container = self._client.containers.create(**self._options(uid_base), **how)
        try:
            # Attached before it starts, or its first words would be lost.
            stream = ContainerStream(container.attach_socket(params=_ATTACH)) if mount is None else None
            container.start()
        except BaseException:
            with contextlib.suppress(DockerException, requests.RequestException):
                container.remove(force=True)
            raise
        return DockerEnclosure(container, mount, stream)

    @staticmethod
    def _mounted(mount: Mount, uid_base: int) -> dict[str, Any]:
        folder = {"bind": MOUNT_POINT, "mode": "ro"}
        return {"command": mounted_command(uid_base), "volumes": {str(mount.path): folder}, "detach": True}

    @staticmethod
    def _streamed(uid_base: int) -> dict[str, Any]:
        # Not detached: its standard input is closed when the connection to it ends, however that comes about.
        return {"command": streamed_command(uid_base), "stdin_open": True, "detach": False}

    def _options(self, uid_base: int) -> dict[str, Any]:
        # Who cannot switch users has one user for all, whose the scratch folder must be.
        user = f"{uid_base}:{uid_base}" if not self.capabilities else "0:0"
        scratch = f"{_SCRATCH_OPTIONS},uid={uid_base},gid={uid_base}" if not self.capabilities else _SCRATCH_OPTIONS
        return {
            "image": self._image_id,
            "entrypoint": [],
            "user": user,
            "environment": AGENT_ENVIRONMENT,
            "working_dir": "/tmp",
            "labels": {OWNER_LABEL: _owner()},
            "runtime": self.runtime,
            "network_mode": "none",
            "ipc_mode": "none",
            "read_only": True,
            "cap_drop": ["ALL"],
            "cap_add": list(self.capabilities),
            "security_opt": ["no-new-privileges:true"],
            "pids_limit": self.pids,
            "mem_limit": CONTAINER_MEMORY_BYTES,
            "memswap_limit": CONTAINER_MEMORY_BYTES,
            "ulimits": [Ulimit(name="stack", soft=_STACK_BYTES, hard=_STACK_BYTES)],
            "tmpfs": {"/tmp": scratch},
            "log_config": LogConfig(type="none"),
            "auto_remove": True,
        }


class UnprivilegedDockerLauncher(DockerLauncher):
    """The same without a capability, as an ordinary user: Landlock and seccomp alone keep tests apart."""

    name = "docker-unprivileged"
    capabilities = ()


class GvisorLauncher(DockerLauncher):
    """The same in gVisor, a kernel in user space that each container has of its own: a test never meets the machine's.

    It lets no socket of the machine's through, so the agent is reached by the container's input and output.
    """

    name = "gvisor"
    kernel = "gVisor"
    runtime = "runsc"
    # The last is over gVisor's own kernel: the agent hides itself in /proc, which gVisor of 2022 opens to every user.
    capabilities = ("SETUID", "SETGID", "KILL", "SYS_ADMIN")
    always_by_stream = True
    # Threads of gVisor itself are counted, several for each of a program's; the sandbox ends when it gets no more.
    pids = 4096


def _owner() -> str:
    pid = os.getpid()
    return f"{namespace()}/{pid}/{start_time(pid)}"


def reap(client: docker.DockerClient) -> int:
    """Remove the containers that dead commands left; how many they were.

    Those of another machine, boot or pid namespace stay untouched: whether their command lives cannot be seen here.
    """
    removed = 0
    with said_plainly():
        for container in client.containers.list(all=True, filters={"label": OWNER_LABEL}, ignore_removed=True):
            space, _, process = container.labels[OWNER_LABEL].partition("/")
            pid, _, started = process.partition("/")
            if space == namespace() and pid.isdigit() and not is_alive(int(pid), started):
                remove(container)
                removed += 1
    return removed
