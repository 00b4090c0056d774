# The environment and every report, as `make repro` makes them on Debian; then JupyterLab.
FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates chromium git make python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
# Chromium, which prints reports as PDF, can't make a sandbox of its own within a container.
RUN echo 'export CHROMIUM_FLAGS="$CHROMIUM_FLAGS --no-sandbox"' > /etc/chromium.d/container
RUN useradd --create-home --uid 1000 analyst
RUN mkdir /srv/virtperf && chown analyst /srv/virtperf
USER analyst
WORKDIR /srv/virtperf
COPY --chown=analyst:analyst . .
RUN make repro
EXPOSE 8888
ENV PATH="/srv/virtperf/.venv/bin:${PATH}"
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--no-browser", "--ServerApp.root_dir=."]
