package plugin

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/zchost/zchost/abi"
)

// Fingerprint names one generation of a plugin: two loads have the same
// fingerprint exactly if nothing that can change behaviour differs.
type Fingerprint struct {
	// Name and Version are those of the manifest.
	Name, Version string
	sum           [sha256.Size]byte
}

// String is the short form: name@version#1a2b3c4d.
func (f Fingerprint) String() string {
	return f.Name + "@" + f.Version + "#" + hex.EncodeToString(f.sum[:4])
}

// Full is the whole SHA-256 in hexadecimal.
func (f Fingerprint) Full() string { return hex.EncodeToString(f.sum[:]) }

// identity is what a fingerprint is taken over, apart from the module. Values
// of secrets are not among it: they are in no config, only their names are.
type identity struct {
	ABI      int             `json:"abi"`
	Manifest Manifest        `json:"manifest"`
	Config   json.RawMessage `json:"config"`
	// Granted are the names of the capabilities in effect.
	Granted []string `json:"granted"`
	Limits  Limits   `json:"limits"`
}

// fingerprint is the SHA-256 of the digest of the module's bytes and of the
// identity as JSON. The manifest goes in as it was understood, so that a comment
// or the order of keys makes no difference.
func fingerprint(module [sha256.Size]byte, m Manifest, config []byte, have []grant, limits Limits) (Fingerprint, error) {
	id := identity{ABI: abi.Version, Manifest: m, Config: config, Limits: limits}
	for _, g := range have {
		for _, name := range g.names(m.Capabilities) {
			id.Granted = append(id.Granted, label(g.capability, name))
		}
	}
	slices.Sort(id.Granted)
	text, err := json.Marshal(id)
	if err != nil {
		return Fingerprint{}, fmt.Errorf("fingerprint plugin: %w", err)
	}
	h := sha256.New()
	h.Write(module[:])
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
	h.Write(text)
	f := Fingerprint{Name: m.Name, Version: m.Version}
	h.Sum(f.sum[:0])
	return f, nil
}
