package protection

import (
	"bytes"

	"github.com/windlass-run/windlass/internal/source"
)

// MaxCascade is how many bytes a cascade has at most. Longer files are read by nobody as one.
const MaxCascade = source.MaxBytes

// IsCascade says whether a text is a JSON or YAML object with a cascade_id, under any name.
func IsCascade(text []byte) bool {
	if len(text) > MaxCascade || !mayHaveKey(text) {
		return false
	}
	if f := source.Parse("text.json", text); f.Root != nil {
		return hasKey(f) // as YAML it would say the same
	}
	return hasKey(source.Parse("text.yaml", text))
}

const key = "cascade_id"

// mayHaveKey spares reading files as YAML, which is slow.
func mayHaveKey(text []byte) bool {
	return bytes.Contains(text, []byte(key)) || bytes.IndexByte(text, '\\') >= 0 && bytes.IndexByte(text, '"') >= 0
}

func hasKey(f *source.File) bool {
	return f.Root != nil && f.Root.Kind == source.Object && f.Root.Get(key) != nil
}
