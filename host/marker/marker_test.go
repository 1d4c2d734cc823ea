package marker_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/language"

	"github.com/zchost/zchost/host/marker"
)

// TestEnglish holds the texts that the specification gives (MRK-3).
func TestEnglish(t *testing.T) {
	t.Parallel()
	for code, want := range map[marker.Code]string{
		"turn-stream-interrupted":             "[stream interrupted]",
		"turn-interrupted-by-user":            "[interrupted by user]",
		"turn-cancelled-client-rpc":           "[turn cancelled via client]",
		"turn-tool-interrupted-before-result": "[interrupted by user before this tool produced a result]",
		"turn-failed":                         "[turn failed]",
		"turn-interrupted-by-restart":         "[interrupted by restart]",
		"turn-incomplete-length":              "[answer cut at the output limit]",
		"turn-incomplete-filter":              "[answer stopped by a content filter]",
		"turn-incomplete-refusal":             "[the model declined to answer]",
		"turn-incomplete-limit":               "[stopped at the limit of tool calls]",
		"turn-incomplete-pause":               "[the model paused before the end]",
		"turn-from-a-later-version":           "[turn-from-a-later-version]",
	} {
		if got := marker.English(code); got != want {
			t.Errorf("English(%s) = %s, want %s", code, got, want)
		}
		if got := marker.Render(code, "en"); got != want {
			t.Errorf("Render(%s, en) = %s, want %s", code, got, want)
		}
	}
}

// TestCatalogues holds all languages complete (MRK-1): the same keys in each
// file, no text left in English, the same words to be put in, and brackets
// around everything.
func TestCatalogues(t *testing.T) {
	t.Parallel()
	codes := append(marker.Codes(), "notice-answered-by", "notice-wait", "notice-no-answer")
	files, err := filepath.Glob("locales/*.json")
	if err != nil || len(files) != len(marker.Languages())-1 {
		t.Fatalf("files %v, error %v, want one for each of %v but English", files, err, marker.Languages())
	}
	for _, tag := range marker.Languages()[1:] {
		data, err := os.ReadFile("locales/" + tag.String() + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var texts map[marker.Code]string
		if err := json.Unmarshal(data, &texts); err != nil {
			t.Fatal(err)
		}
		for _, code := range codes {
			text, english := texts[code], marker.English(code)
			switch {
			case text == "":
				t.Errorf("%s: %s is missing", tag, code)
			case text == english:
				t.Errorf("%s: %s is English", tag, code)
			case !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, "]"):
				t.Errorf("%s: %s has no brackets: %s", tag, code, text)
			case field(text) != field(english):
				t.Errorf("%s: %s has %q to be put in, want %q", tag, code, field(text), field(english))
			}
			delete(texts, code)
		}
		for code := range texts {
			t.Errorf("%s: there is no %s", tag, code)
		}
	}
}

// field is the placeholder of a text.
func field(text string) string {
	_, rest, _ := strings.Cut(text, "{")
	name, _, _ := strings.Cut(rest, "}")
	return name
}

// TestRender chooses the language: the agent's locale, then the reader's, then
// English (MRK-1).
func TestRender(t *testing.T) {
	t.Parallel()
	const english, german, portuguese = "[interrupted by restart]", "[durch Neustart unterbrochen]", "[interrompido por uma reinicialização]"
	for _, tt := range []struct {
		name    string
		locales []string
		want    string
	}{
		{"nothing known", nil, english},
		{"the agent has none", []string{"", "de"}, german},
		{"the agent goes first", []string{"pt", "de"}, portuguese},
		{"the agent's English goes first", []string{"en-GB", "de"}, english},
		{"region falls away", []string{"pt-BR"}, portuguese},
		{"other region", []string{"pt-PT"}, portuguese},
		{"not spoken, then the reader", []string{"sw", "de-AT"}, german},
		{"none spoken", []string{"sw", "yo"}, english},
		{"POSIX", []string{"de_CH.UTF-8@euro"}, german},
		{"POSIX without language", []string{"C.UTF-8", "POSIX", "de"}, german},
		{"nonsense", []string{"../../etc/passwd", "\x00", "de"}, german},
		{"old code", []string{"in"}, "[terputus karena mulai ulang]"},
		{"other script", []string{"zh-TW"}, "[因重启而中断]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := marker.Render(marker.InterruptedByRestart, tt.locales...); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestMissingKeyIsEnglish: a code that no catalogue has (MRK-1).
func TestMissingKeyIsEnglish(t *testing.T) {
	t.Parallel()
	if got, want := marker.Render("turn-new", "de"), "[turn-new]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestNotices puts words in, and takes them as they are.
func TestNotices(t *testing.T) {
	t.Parallel()
	got := []string{
		marker.AnsweredBy("openai/gpt-{wait}<&>"),
		marker.AnsweredBy("local/llama", "ja"),
		marker.WaitAsked(90*time.Second, "de"),
		marker.WaitAsked(1500*time.Millisecond, "fr"),
		marker.WaitAsked(2 * time.Minute),
		marker.WaitAsked(time.Hour + 10*time.Second),
		marker.NoAnswer(),
		marker.NoAnswer("es-MX"),
	}
	want := []string{
		"[answered by openai/gpt-{wait}<&>]",
		"[local/llama による回答]",
		"[das Modell bittet, 1 min 30 s zu warten]",
		"[le modèle demande d’attendre 2 s]",
		"[the model asks to wait 2 min]",
		"[the model asks to wait 1 h 1 min]",
		"[the model gave no answer]",
		"[el modelo no dio ninguna respuesta]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestLanguages holds the list of the specification.
func TestLanguages(t *testing.T) {
	t.Parallel()
	var got []string
	for _, l := range marker.Languages() {
		got = append(got, l.String())
	}
	if diff := cmp.Diff(strings.Fields("en id zh es de fr pt ja"), got); diff != "" {
		t.Error(diff)
	}
	if marker.Languages()[0] != language.English {
		t.Error("English is not first")
	}
}

func BenchmarkRender(b *testing.B) {
	for b.Loop() {
		marker.Render(marker.StreamInterrupted, "de")
	}
}
