"""`python -m stackfix`."""

from stackfix.cli.main import run

if __name__ == "__main__":
    run()
