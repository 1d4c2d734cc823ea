package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/zchost/zchost/host/secret"
)

const key = "sk-live-51HqLyjWDarjtT1zdp7dc"

// C138: a secret does not show, however the struct that holds it is printed.
func TestValueDoesNotShow(t *testing.T) {
	t.Parallel()
	v := secret.New(key)
	type config struct {
		Public  secret.Value
		private secret.Value
		list    []secret.Value
		named   map[string]secret.Value
		pointer *secret.Value
		any     any
	}
	c := config{v, v, []secret.Value{v}, map[string]secret.Value{"k": v}, &v, v}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "value", v, "config", c)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "value", v, "config", c)
	shown := []string{log.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10.3s", "%t"} {
		for _, arg := range []any{v, &v, c, &c, c.list, c.named, []any{v}} {
			shown = append(shown, fmt.Sprintf(verb, arg))
		}
	}
	for _, arg := range []any{v, &v, c, map[string]any{"v": v}} {
		text, err := json.Marshal(arg)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, string(text))
	}
	_, err := fmt.Sscanf("x", "%d", new(int))
	shown = append(shown, fmt.Errorf("with %v: %w", v, err).Error())
	for _, s := range shown {
		if strings.Contains(s, key) || strings.Contains(s, "51Hq") || strings.Contains(s, fmt.Sprintf("%x", key)[:16]) {
			t.Errorf("the secret shows in %s", s)
		}
	}
	if got := fmt.Sprintf("%+v", v); got != secret.Mask {
		t.Errorf("shown as %q, want %q", got, secret.Mask)
	}
}

func TestValueCompares(t *testing.T) {
	t.Parallel()
	if !secret.New(key).Equal(secret.New(key)) || secret.New(key).Equal(secret.New("other")) {
		t.Error("Equal does not compare what is inside")
	}
	if (secret.Value{}).Reveal() != "" || !(secret.Value{}).Empty() || secret.New("x").Empty() {
		t.Error("the zero value is not empty")
	}
	if !secret.New("1234567").Short() || secret.New("12345678").Short() || (secret.Value{}).Short() {
		t.Error("Short does not tell what is redacted")
	}
}
