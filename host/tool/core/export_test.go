package core

// HTMLText is what fetch_url makes of HTML.
func HTMLText(page, base string) string { return htmlText(page, base) }

// GlobMatch is how search_files chooses files.
func GlobMatch(glob, name string) (bool, error) { return globMatch(glob, name) }
