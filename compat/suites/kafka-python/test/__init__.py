"""Stand-in: the sdist leaves out what makes its tests a package."""
