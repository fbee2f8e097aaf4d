"""Asks somebody else."""
import socket

socket.create_connection(("203.0.113.1", 80), timeout=1)
