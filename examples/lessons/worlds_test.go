package lessons_test

import (
	"net/http"
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
		"09-budget":      oneKey,
		"10-interrupted": interrupted,
	}
}

const hello = "Hello! How can I help?"

func always(a answer) func(asked) answer { return func(asked) answer { return a } }

func oneKey(t *testing.T, _ *lesson) []string {
	return []string{"ZCHOST_PROVIDERS__OPENAI__BASE_URL=" + start(t, openAI, always(answer{text: hello})) + "/v1"}
}

// twoKeys: the first key has no more requests left.
func twoKeys(t *testing.T, _ *lesson) []string {
	url := start(t, openAI, func(q asked) answer {
		if strings.HasSuffix(q.key, "1") {
			return answer{status: http.StatusTooManyRequests, text: "You have no requests left this minute."}
		}
		return answer{text: hello}
	})
	return []string{"ZCHOST_PROVIDERS__OPENAI__BASE_URL=" + url + "/v1"}
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

// interrupted: the vendor hangs up in the middle of each answer, and goes on
// when it is asked to.
func interrupted(t *testing.T, _ *lesson) []string {
	url := start(t, openAI, func(q asked) answer {
		if strings.Contains(q.body, "Do not repeat") {
			return answer{text: "and they breathe air."}
		}
		return answer{text: "Whales are mammals, ", cut: true}
	})
	return []string{"ZCHOST_PROVIDERS__OPENAI__BASE_URL=" + url + "/v1"}
}
