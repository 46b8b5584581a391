# The program in a container: docs/operator/install.md ("In a container") says how to build and run it.
# Debian releases have Python 3.11 (bookworm) or newer.
ARG DEBIAN=bookworm-slim

FROM debian:${DEBIAN} AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates g++ python3-dev python3-venv \
 && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/desdemona
WORKDIR /src
COPY CMakeLists.txt LICENSE README.md config.toml constraints.txt pyproject.toml ./
COPY bot bot
COPY deploy deploy
COPY engine engine
COPY lab lab
COPY migrations migrations
COPY storage storage
# The pins also hold where pip builds packages; the names of these settings depend on its version (deploy/install.py).
RUN PIP_CONSTRAINT=/src/constraints.txt PIP_BUILD_CONSTRAINT=/src/constraints.txt PIP_USE_PEP517=1 \
    /opt/desdemona/bin/pip install --no-cache-dir --no-compile --disable-pip-version-check .
# Some packages have files for other versions of Python, which do not compile.
RUN /opt/desdemona/bin/python -m compileall -qq -j 0 /opt/desdemona/lib || true

FROM debian:${DEBIAN}
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates libstdc++6 python3 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --user-group --no-create-home --home-dir /srv/desdemona desdemona \
 && install --directory --owner=desdemona --group=desdemona --mode=0700 /srv/desdemona/data
COPY --from=build /opt/desdemona /opt/desdemona
ENV PATH=/opt/desdemona/bin:/usr/local/bin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
# The arena's page is for other machines; the operator's dashboard stays on the container's own address.
ENV DESDEMONA_ARENA__HOST=0.0.0.0
# config.toml is looked for here, and data/ has the database.
WORKDIR /srv/desdemona
VOLUME /srv/desdemona/data
USER desdemona
EXPOSE 8765
# The first one lets running games end for shutdown.drain_s seconds.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 CMD \
    ["python3", "-c", "import http.client, os; c = http.client.HTTPConnection('127.0.0.1', int(os.environ.get('DESDEMONA_DASHBOARD__PORT') or 8766), timeout=4); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["desdemona"]
CMD ["run"]
