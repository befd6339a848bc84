"""Source bytes -> sites. The only package that knows tree-sitter; pure: it reads nothing by itself."""
