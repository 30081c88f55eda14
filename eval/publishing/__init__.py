"""From frozen editions to a folder that readers open: the plan, the files, their manifest, the switch of old to new.

``publication`` is the one value that pages, pictures and files are made from, ``building`` makes them all, ``folder``
and ``switch`` put them where they are read, in one step; ``readme_tables`` keeps tables in other people's Markdown.
"""
