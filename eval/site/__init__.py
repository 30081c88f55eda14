"""The static site of an edition: pages for readers and checkers, and the script that counts for other windows.

``pages`` makes all files; each other module makes what one page says, as plain values for its template. ``cells`` is
the shape of a table on a page.
"""
