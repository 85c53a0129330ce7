# A Hugging Face Space of the kind "docker" (app_port: 7860), or any other host of containers.
# The steps are run without Docker by tests/house/test_docker.py.
# to hold the base still as well, write its digest after the tag (docker buildx imagetools inspect shows it)
FROM python:3.11-slim

# the model's client trusts the system's certificates
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/*

# a Space runs its containers as the user 1000
RUN useradd -m -u 1000 user
USER user
ENV HOME=/home/user \
    PATH=/home/user/.local/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONUNBUFFERED=1 \
    COEVAL_HOST=0.0.0.0 \
    COEVAL_PORT=7860

WORKDIR /home/user/app
COPY --chown=user coeval/requirements.lock ./
RUN pip install --no-cache-dir --user --require-hashes -r requirements.lock
COPY --chown=user . ./
# or each new container would compile the modules again, half a second of its start
RUN python -m compileall -q app.py coeval

EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f\"http://127.0.0.1:{os.environ['COEVAL_PORT']}/healthz\", timeout=4)"]

# in this form the app itself gets the signal to stop, and takes a last snapshot
STOPSIGNAL SIGTERM
CMD ["python", "app.py"]
