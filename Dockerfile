FROM python:3.11-slim
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 credence && install -d -o credence /app /app/var
WORKDIR /app
USER credence
COPY --chown=credence Makefile pyproject.toml requirements*.txt ./
RUN make setup PYTHON=python3
COPY --chown=credence . .
# leaves the bytecode in the image that every start would otherwise make anew
RUN CREDENCE_VAR=/tmp/compiled .venv/bin/python manage.py check && rm -r /tmp/compiled
EXPOSE 8000
CMD ["make", "prepared-web", "HOST=0.0.0.0", "PYTHON=python3", "SAMPLE=0"]
