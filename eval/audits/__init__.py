"""Audits: what may be wrong with scores, or with the problems that they rest on. One file for each; all are pure."""
