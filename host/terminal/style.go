package terminal

// style is a Select Graphic Rendition of ECMA-48 (the `m` sequences).
type style string

const (
	plain  style = ""
	dim    style = "2"
	bold   style = "1"
	red    style = "31"
	yellow style = "33"
	green  style = "32"
	cyan   style = "36"
)

// paint returns s in the style if colours are on.
func paint(on bool, st style, s string) string {
	if !on || st == plain || s == "" {
		return s
	}
	return "\x1b[" + string(st) + "m" + s + "\x1b[0m"
}
