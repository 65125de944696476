"""The ground floor: what every other floor may use and what knows none of them: checks, values,
texts, files, pages of HTML.

Nothing here imports anything of the package outside of this folder.
"""
