package abi

// Raw is a JSON value that is passed on as it is. Empty means absent.
type Raw []byte

// MarshalJSON returns the value itself, null if it is absent.
func (r Raw) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON keeps a copy of the value.
func (r *Raw) UnmarshalJSON(b []byte) error {
	*r = append((*r)[:0], b...)
	return nil
}
