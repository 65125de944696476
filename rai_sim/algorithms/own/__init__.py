"""A user's own algorithms: a round robin with a width of one's own (`round_robin`), and any rule that
is one function (`rule`, run by `loop`, and by `plain` without compiling it)."""
