package marker

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/language"
)

// catalogues holds a file for each language but English, which is in the code.
//
//go:embed locales/*.json
var catalogues embed.FS

// Render gives the words for a marker in the first of the locales that zchost
// speaks, English if it speaks none: the agent's locale goes first, then the
// reader's (MRK-1). A locale is a language tag, as "pt-BR", or in POSIX form,
// as "pt_BR.UTF-8"; empty ones are skipped.
func Render(code Code, locales ...string) string {
	return render(code, words{}, locales)
}

// AnsweredBy says that another candidate than the first gave the answer
// (CST-4).
func AnsweredBy(candidate string, locales ...string) string {
	return render(noticeAnsweredBy, words{candidate: candidate}, locales)
}

// WaitAsked says that the provider wants to be asked again only after a while
// (REL-6). Parts of a second count as a whole one.
func WaitAsked(wait time.Duration, locales ...string) string {
	return render(noticeWait, words{wait: inWords(wait)}, locales)
}

// NoAnswer says that the model's answer was empty (REL-5).
func NoAnswer(locales ...string) string {
	return render(noticeNoAnswer, words{}, locales)
}

// words is what a text may have put in.
type words struct {
	candidate, wait string
}

// render reads the one catalogue that is needed. Markers are rare and the files
// are small, so nothing is kept between calls.
func render(code Code, data words, locales []string) string {
	text := English(code)
	if tag := match(locales); tag != language.English {
		text = cmp.Or(translation(tag, code), text)
	}
	return strings.NewReplacer("{candidate}", data.candidate, "{wait}", data.wait).Replace(text)
}

// translation returns the text of a language, "" if it has none.
func translation(tag language.Tag, code Code) string {
	// The files are in the program; a test reads them all.
	file, err := catalogues.ReadFile("locales/" + tag.String() + ".json")
	if err != nil {
		return ""
	}
	var texts map[Code]string
	if json.Unmarshal(file, &texts) != nil {
		return ""
	}
	return texts[code]
}

// Languages returns the languages that zchost speaks. English is first: it
// stands in for all others.
func Languages() []language.Tag {
	return []language.Tag{
		language.English, language.Indonesian, language.Chinese, language.Spanish,
		language.German, language.French, language.Portuguese, language.Japanese,
	}
}

// match returns the language of the first locale that there is one for. Region
// and script do not count. A related language is no match: the next locale may
// be the reader's own.
func match(locales []string) language.Tag {
	for _, l := range locales {
		l, _, _ = strings.Cut(l, ".")
		l, _, _ = strings.Cut(l, "@")
		tag, err := language.Parse(l)
		if err != nil {
			continue
		}
		base, _ := tag.Base()
		for _, spoken := range Languages() {
			if b, _ := spoken.Base(); b == base {
				return spoken
			}
		}
	}
	return language.English
}

// inWords writes a duration with units that are the same in all languages.
func inWords(d time.Duration) string {
	s := int64((d + time.Second - 1) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600 && s%60 == 0:
		return fmt.Sprintf("%d min", s/60)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, (s%3600+59)/60)
}
