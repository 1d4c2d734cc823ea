package lessons_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// worlds are what the lessons meet: who starts the servers, and the variables
// that send the program there.
func worlds() map[string]func(*testing.T, *lesson) []string {
	return map[string]func(*testing.T, *lesson) []string{
		"01-one-key":     oneKey,
		"02-two-keys":    twoKeys,
		"03-fallback":    fallback,
		"04-local":       local,
		"05-approval":    approvals,
		"06-shell":       shell,
		"07-mcp":         server,
		"08-plugin":      dice,
		"09-budget":      oneKey,
		"10-interrupted": interrupted,
	}
}

const hello = "Hello! How can I help?"

func always(a answer) func(asked) answer { return func(asked) answer { return a } }

func oneKey(t *testing.T, _ *lesson) []string {
	return openAIAt(start(t, openAI, always(answer{text: hello})))
}

// twoKeys: the first key has no more requests left.
func twoKeys(t *testing.T, _ *lesson) []string {
	url := start(t, openAI, func(q asked) answer {
		if strings.HasSuffix(q.key, "1") {
			return answer{status: http.StatusTooManyRequests, text: "You have no requests left this minute."}
		}
		return answer{text: hello}
	})
	return openAIAt(url)
}

// fallback: the first vendor is down.
func fallback(t *testing.T, _ *lesson) []string {
	down := start(t, openAI, always(answer{status: http.StatusServiceUnavailable, text: "The server is overloaded."}))
	return []string{
		"ZCHOST_PROVIDERS__OPENAI__BASE_URL=" + down + "/v1",
		"ZCHOST_PROVIDERS__GEMINI__BASE_URL=" + start(t, gemini, always(answer{text: hello})) + "/v1beta",
	}
}

func local(t *testing.T, _ *lesson) []string {
	return []string{"ZCHOST_PROVIDERS__LOCAL__BASE_URL=" + start(t, ollama, always(answer{text: hello}))}
}

// interrupted: the vendor hangs up in the middle of its answers, and goes on
// when it is asked to.
func interrupted(t *testing.T, _ *lesson) []string {
	return openAIAt(start(t, openAI, func(q asked) answer {
		switch {
		case strings.Contains(q.last, "do not repeat"):
			return answer{text: "and they breathe air."}
		case strings.Contains(q.last, "sharks"):
			return answer{text: "Sharks are fish, ", cut: true}
		case q.result:
			return answer{text: "Whales are mammals, ", cut: true}
		}
		return answer{call: "write_file", arguments: `{"path":"notes.txt","content":"whales\n"}`}
	}))
}

func approvals(t *testing.T, _ *lesson) []string {
	return openAIAt(start(t, openAI, func(q asked) answer {
		switch {
		case q.result && strings.Contains(q.last, "Wrote"):
			return answer{text: "I have noted it."}
		case q.result && strings.Contains(q.body, "empty."):
			return answer{text: "Then I leave it."}
		case q.result:
			return answer{text: "There are no notes."}
		case strings.Contains(q.last, "What notes"):
			return answer{call: "list_dir", arguments: `{}`}
		}
		return answer{text: "I write it down. ", call: "write_file", arguments: `{"path":"milk.txt","content":"The milk is empty.\n"}`}
	}))
}

func shell(t *testing.T, _ *lesson) []string {
	return openAIAt(start(t, openAI, func(q asked) answer {
		switch {
		case q.result && strings.Contains(q.last, "3"):
			return answer{text: "The page has 3 lines."}
		case q.result && strings.Contains(q.last, "none"):
			return answer{text: "No, there is none."}
		case q.result:
			return answer{text: "I cannot read that: it is outside of my workspace."}
		case strings.Contains(q.last, "page"):
			return answer{call: "shell", arguments: `{"command":"printf 'a\\nb\\nc\\n' > page.txt && wc -l < page.txt"}`}
		case strings.Contains(q.last, "key"):
			return answer{call: "shell", arguments: `{"command":"env | grep KEY || echo none"}`}
		}
		return answer{call: "read_file", arguments: `{"path":"/etc/passwd"}`}
	}))
}

// server: the test program plays the server for files.
func server(t *testing.T, _ *lesson) []string {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	url := start(t, openAI, func(q asked) answer {
		switch {
		case q.result && strings.Contains(q.last, "Successfully"):
			return answer{text: "I have noted it."}
		case q.result && strings.Contains(q.last, "[FILE]"):
			return answer{text: "There is one note, milk.txt."}
		case q.result:
			return answer{text: "Then I leave it."}
		case strings.Contains(q.last, "Which"):
			return answer{call: "files__list_directory", arguments: `{"path":"."}`}
		}
		return answer{call: "files__write_file", arguments: `{"path":"bread.txt","content":"The bread is stale.\n"}`}
	})
	return append(openAIAt(url),
		"ZCHOST_MCP__FILES__COMMAND="+program, "ZCHOST_MCP__FILES__ENV__"+serverVariable+"=text:1")
}

func dice(t *testing.T, l *lesson) []string {
	l.builds(t)
	return openAIAt(start(t, openAI, func(q asked) answer {
		if q.result {
			_, percent, _ := strings.Cut(q.last, "probability of ")
			return answer{text: "It happens in " + strings.TrimSuffix(percent, ".") + " of all throws."}
		}
		return answer{call: "dice_odds", arguments: `{"dice":"3d6","total":15}`}
	}))
}

// openAIAt sends the provider openai to a server.
func openAIAt(url string) []string {
	return []string{"ZCHOST_PROVIDERS__OPENAI__BASE_URL=" + url + "/v1"}
}
