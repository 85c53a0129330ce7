"""Start CoEval: ``python app.py [--db PATH] [--host H] [--port P]``."""

from coeval.cli.serving import serve

if __name__ == "__main__":
    serve()
