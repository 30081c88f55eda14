"""The program that runs inside a jail: standard library only, no import from the rest of the project.

Its folder is copied into the directory that a jail sees and started as ``python3 -s -S -B``. The host imports
:mod:`sandbox.agent.wire` from here, so that both ends of the protocol are one file.
"""
