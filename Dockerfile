# The service in a container. `docker build --tag memroot .`; docs/service.md says how to run it.

FROM python:3.13.9-slim-trixie AS build
# Cargo compiles the kernels. Nothing of this stage but the environment gets into the image.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends cargo \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY engine ./engine
COPY backends ./backends
COPY proofs ./proofs
COPY memroot ./memroot
# A failure to compile the kernels ends the build.
RUN MEMROOT_KERNELS=native python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheel . \
    && python -m venv --without-pip /opt/memroot \
    && wheel="$(echo /wheel/*.whl)" \
    && python -m pip --python /opt/memroot/bin/python install --no-cache-dir --only-binary :all: "${wheel}[service,postgresql]"

FROM python:3.13.9-slim-trixie
RUN python -m pip uninstall --yes pip \
    && useradd --system --uid 10001 --user-group --no-create-home --home-dir /data memroot \
    && install --directory --owner memroot --group memroot --mode 0700 /data
COPY --from=build /opt/memroot /opt/memroot
ENV PATH=/opt/memroot/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    ENGINE_STORE=sqlite:/data/memories.db
USER memroot
VOLUME /data
EXPOSE 8377
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8377/health', timeout=4)"]
# The form with brackets: the signal reaches the program itself, not a shell.
ENTRYPOINT ["engine"]
# Plain HTTP, for a proxy or a port of the same machine only. Without a token in the store, it does not start.
CMD ["serve", "--write", "--host", "0.0.0.0", "--insecure"]
