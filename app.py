"""Start CoEval: ``python app.py [--db PATH] [--host H] [--port P]``."""

from coeval.cli.serve import serve

if __name__ == "__main__":
    serve()
