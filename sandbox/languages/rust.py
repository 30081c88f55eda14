"""Rust as rustc compiles it, one file without further crates."""

from __future__ import annotations

from sandbox.languages import COMPILER_ADDRESS_SPACE_BYTES, Build, Language, Run, _gnu

_RUSTC = "/usr/bin/rustc"
# The linker by its own name: the one that rustc looks for leads there by way of /etc, which not every jail has.
_OPTIONS = (
    "--edition=2021",
    "-Copt-level=3",
    "-Ctarget-feature=+crt-static",
    "-Cstrip=symbols",
    "-Clinker=/usr/bin/gcc",
    "--cap-lints=allow",
)

# Like C++ it gets no time and no memory of its own: a static program starts in 2 ms.
LANGUAGE = Language(
    name="rust",
    self_test="""\
fn main() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    println!("{}", line.trim().parse::<i64>().unwrap() + 1);
}
""",
    profile=f"rustc, {' '.join(_OPTIONS)}; no crates but the standard library; 512 MiB of stack",
    version=_gnu.version("gcc", f"{_RUSTC} --version"),
    suffixes=(".rs",),
    build=Build(
        file_name=lambda source: "main.rs",
        command=lambda file_name, source: (_RUSTC, *_OPTIONS, "-o", "main", file_name),
        product=lambda source: "main",
        variables={"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8"},
        address_space_bytes=COMPILER_ADDRESS_SPACE_BYTES,
    ),
    run=Run(),
)
