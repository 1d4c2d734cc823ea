package secret

import (
	"strings"
	"unicode"

	"github.com/zchost/zchost/host/fault"
)

// Scheme says where a secret is.
type Scheme string

// The schemes.
const (
	SchemeEnv  Scheme = "env"  // an environment variable
	SchemeFile Scheme = "file" // the contents of a file
	SchemeCmd  Scheme = "cmd"  // what a command prints
)

const howToRefer = "write where it is: env:NAME, file:/PATH or cmd:COMMAND"

// Ref says where a secret is to be found. It holds nothing secret itself and
// may be printed. The zero Ref refers to nothing.
type Ref struct {
	scheme Scheme
	target string
}

// ParseRef reads env:NAME, file:PATH or cmd:COMMAND LINE. PATH is absolute or
// begins with ~/. Anything else, a secret written in place above all, is
// refused with a fault of code Config, whose text repeats nothing of s that
// could be the secret.
func ParseRef(s string) (Ref, error) {
	scheme, target, found := strings.Cut(s, ":")
	r := Ref{scheme: Scheme(scheme), target: strings.TrimSpace(target)}
	var err error
	switch {
	case s == "":
		err = refuse("secret reference is empty")
	case !found:
		err = refuse("a secret is written in place of a reference")
	case r.scheme == SchemeEnv:
		err = checkEnv(r.target)
	case r.scheme == SchemeFile:
		err = checkFile(r.target)
	case r.scheme == SchemeCmd:
		err = checkCmd(r.target)
	default:
		err = refuse("secret reference begins with none of env:, file:, cmd:")
	}
	if err != nil {
		return Ref{}, err
	}
	return r, nil
}

// Scheme tells where the secret is.
func (r Ref) Scheme() Scheme { return r.scheme }

// IsZero tells whether r refers to nothing.
func (r Ref) IsZero() bool { return r.scheme == "" }

// String returns the reference as it was written.
func (r Ref) String() string {
	if r.IsZero() {
		return ""
	}
	return string(r.scheme) + ":" + r.target
}

// MarshalText returns the reference as it was written.
func (r Ref) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Label names the secret in the ledger and in messages: env:OPENAI_API_KEY,
// file:~/key, and of a command only its first word, since people write
// passwords into command lines.
func (r Ref) Label() string {
	if r.scheme == SchemeCmd {
		return "cmd:" + firstWord(r.target)
	}
	return r.String()
}

func firstWord(line string) string {
	word, _, _ := strings.Cut(line, " ")
	if strings.Contains(word, "=") { // VAR=value command
		return "…"
	}
	return word
}

func checkEnv(name string) error {
	for i, c := range name {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return refuse("what follows env: is not the name of an environment variable")
		}
	}
	if name == "" {
		return refuse("env: lacks the name of an environment variable")
	}
	if looksLikeKey(name) {
		return refuse("what follows env: looks like a secret itself, not like the name of an environment variable")
	}
	return nil
}

func checkFile(path string) error {
	if path == "" {
		return refuse("file: lacks a path")
	}
	if path == "~" || !strings.HasPrefix(path, "~/") && !isAbs(path) {
		return refuse("what follows file: is not an absolute path; a path may begin with / or ~/")
	}
	return checkPrintable("file:", path)
}

func checkCmd(line string) error {
	if line == "" {
		return refuse("cmd: lacks a command")
	}
	return checkPrintable("cmd:", line)
}

func checkPrintable(what, s string) error {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return refuse("what follows " + what + " holds a line break or control character")
	}
	return nil
}

// looksLikeKey tells a key such as sk_live_51HqLyjWDarjtT1 from a name such as
// OPENAI_API_KEY_2: names of variables rarely mix upper case, lower case and
// several digits.
func looksLikeKey(s string) bool {
	var upper, lower, digits int
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= 'A' && c <= 'Z':
			upper++
		}
	}
	return len(s) >= 16 && upper > 0 && lower > 0 && digits >= 2
}

func refuse(msg string) error { return fault.New(fault.Config, msg, howToRefer) }
