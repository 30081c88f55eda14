"""The subcommands, one module each; heavy imports happen inside the functions, so that ``live --help`` stays quick."""
