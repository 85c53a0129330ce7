"""Start CoEval: ``python app.py [--db PATH] [--host H] [--port P]``."""

from coeval.cli import serve

if __name__ == "__main__":
    serve()
