package config

import "time"

// Knobs are the reliability settings in force for one candidate. Default
// values are in the tags of Reliability.
type Knobs struct {
	// ProviderRetries is how many attempts on a candidate follow the first
	// non-streaming one: the budget is one more (REL-3).
	ProviderRetries int
	// ProviderBackoff is the first wait between attempts (REL-6).
	ProviderBackoff time.Duration
	// RetryAfterMax is the longest wait that a provider may ask for.
	RetryAfterMax time.Duration
	// TurnDeadline bounds all attempts of a turn together.
	TurnDeadline time.Duration
	// HeaderTimeout bounds connecting and the response header (STR-3).
	HeaderTimeout time.Duration
	// IdleTimeout bounds the silence in a stream. 0 if the config does not
	// say: then the plugin's manifest decides, else DefaultIdleTimeout.
	IdleTimeout time.Duration
	// ProgressTimeout bounds the time without an event in a stream.
	ProgressTimeout time.Duration
	// Completion says what ends a complete answer (STR-1).
	Completion Completion
	// KeyCooldown is how long a key rests that failed (REL-8).
	KeyCooldown time.Duration
}

// DefaultIdleTimeout is in force where neither the config nor the plugin sets
// an idle timeout (STR-3).
const DefaultIdleTimeout = 300 * time.Second

// Knobs returns what is in force for a profile's model at a provider: the
// profile's value, else the provider's, else [reliability], else the default
// (REL-9). Unknown names set nothing.
func (c Config) Knobs(provider, profile string) Knobs {
	k := Knobs{
		ProviderRetries: 2,
		ProviderBackoff: 500 * time.Millisecond,
		RetryAfterMax:   60 * time.Second,
		TurnDeadline:    10 * time.Minute,
		HeaderTimeout:   60 * time.Second,
		ProgressTimeout: 10 * time.Minute,
		Completion:      CompletionLenient,
		KeyCooldown:     60 * time.Second,
	}
	c.Reliability.apply(&k)
	c.Providers[provider].apply(&k)
	c.Models[profile].apply(&k)
	return k
}

func (r Reliability) apply(k *Knobs) {
	override(&k.ProviderRetries, r.ProviderRetries)
	if r.ProviderBackoffMS != nil {
		k.ProviderBackoff = time.Duration(*r.ProviderBackoffMS) * time.Millisecond
	}
	override(&k.RetryAfterMax, r.RetryAfterMax)
	override(&k.TurnDeadline, r.TurnDeadline)
	override(&k.HeaderTimeout, r.HeaderTimeout)
	override(&k.IdleTimeout, r.IdleTimeout)
	override(&k.ProgressTimeout, r.ProgressTimeout)
	override(&k.Completion, r.Completion)
	override(&k.KeyCooldown, r.KeyCooldown)
}

func override[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
