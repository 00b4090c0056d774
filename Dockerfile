# `docker build .`: the environment and every report, as `make repro` makes them on Debian, then JupyterLab; Binder
# builds the same under the user that it names. The stage `system` has what `make repro` needs, for .devcontainer.
FROM debian:bookworm-slim AS system
ARG NB_USER=analyst
ARG NB_UID=1000
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates chromium git make python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
# Chromium, which prints reports as PDF, can't make a sandbox of its own within a container.
RUN echo 'export CHROMIUM_FLAGS="$CHROMIUM_FLAGS --no-sandbox"' > /etc/chromium.d/container
RUN useradd --create-home --uid ${NB_UID} ${NB_USER}
RUN mkdir /srv/virtperf && chown ${NB_USER} /srv/virtperf
USER ${NB_USER}
WORKDIR /srv/virtperf

FROM system
COPY --chown=${NB_UID} . .
RUN make repro
EXPOSE 8888
ENV PATH="/srv/virtperf/.venv/bin:${PATH}"
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--no-browser", "--ServerApp.root_dir=."]
