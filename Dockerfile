# Two images from one file:
#   sandbox  what the Docker jail runs programs in: Python 3 with its whole standard library and nothing else
#   app      the `live` command itself
# `tools/build-image sandbox|app` builds them and brings its own base image where none can be pulled.
# Every stage works with the legacy builder and with BuildKit.
ARG BASE=debian:bookworm-slim

# A base that already has Python (the one that tools/build-image makes) is left as it is, so that no network is needed.
FROM ${BASE} AS python
RUN set -eu; \
    if ! python3 -c 'import ctypes, json, sqlite3, zoneinfo' 2>/dev/null; then \
        apt-get update -qq; \
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 tzdata >/dev/null; \
        rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/*.log /var/log/apt /usr/share/doc/* /usr/share/man/*; \
    fi; \
    find / -xdev -type f -perm /6000 -exec chmod a-s {} +
ENV LANG=C.UTF-8 TZ=UTC

FROM python AS sandbox
ARG RECIPE=unknown
LABEL org.opencontainers.image.title="livecut sandbox" \
      org.opencontainers.image.description="Python 3 and its standard library, for running untrusted programs against tests" \
      org.opencontainers.image.licenses="MIT" \
      livecut.recipe="${RECIPE}"
# A fixed hash seed: the order of a set must not decide a verdict.
ENV PYTHONHASHSEED=0
CMD ["python3"]

FROM python AS app-build
LABEL livecut.stage=build
RUN set -eu; \
    apt-get update -qq; \
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ca-certificates python3-venv >/dev/null; \
    rm -rf /var/lib/apt/lists/*; \
    python3 -m venv /opt/build; \
    python3 -m venv --without-pip /opt/livecut
WORKDIR /src
# Wheels that lie in the folder `wheels` are used instead of the package index, for builds without network.
COPY pyproject.toml constraints-runtime.txt wheel[s]/*.whl ./wheels/
RUN set -eu; \
    set -- --quiet --no-cache-dir --disable-pip-version-check --only-binary :all: --require-hashes; \
    if ls wheels/*.whl >/dev/null 2>&1; then set -- "$@" --no-index --find-links wheels; fi; \
    /opt/build/bin/pip --python /opt/livecut/bin/python install "$@" -r wheels/constraints-runtime.txt
COPY . ./
RUN /opt/build/bin/pip --python /opt/livecut/bin/python install --quiet --disable-pip-version-check --no-cache-dir \
    --no-index --no-deps --no-build-isolation .

FROM python AS app
LABEL org.opencontainers.image.title="livecut" \
      org.opencontainers.image.description="Scores code models only on problems published after their training cut-off" \
      org.opencontainers.image.licenses="MIT"
COPY --from=app-build /opt/livecut /opt/livecut
ENV PATH=/opt/livecut/bin:$PATH LIVE_DB=sqlite:////data/live.db
# An ordinary user. To let it judge through the host's Docker, give it the daemon's socket and group, and a folder for the jails'
# sockets that has the same path inside and outside (the daemon mounts by its own paths):
#   mkdir -m 1777 /tmp/livecut
#   docker run -v livecut:/data -v /tmp/livecut:/tmp/livecut -e TMPDIR=/tmp/livecut -v /var/run/docker.sock:/var/run/docker.sock \
#       --group-add "$(stat -c %g /var/run/docker.sock)" livecut:0.1 judge
RUN useradd --uid 1000 --create-home live && mkdir /data && chown live /data
USER live
VOLUME /data
WORKDIR /data
ENTRYPOINT ["live"]
CMD ["--help"]
