"""The program that runs inside a jail: standard library only, no import from the rest of the project.

Its folder is copied into the directory that a jail sees and started as ``python3 -s -S -B``. The host imports
:mod:`sandbox.agent.wire` from here, so that both ends of the protocol are one file.

What a zygote has imported, each of its forks pays for, and most of a test's time is its fork. So the modules that the
first one needs do without ``typing`` at run time, and with ``_socket`` and ``_signal`` where the modules around those
would bring more.
"""
