package protection

import (
	"bytes"

	"github.com/windlass-run/windlass/internal/source"
)

// MaxCascade is how many bytes a cascade has at most. Longer files are read by nobody as one.
const MaxCascade = source.MaxBytes

// IsCascade says whether windlass would take a text for a cascade: whether it is an object with a cascade_id, in JSON or in
// YAML. Which of them it is read as depends on the file's name and, on standard input, on its beginning; a name does not
// count here, as a file can get another one.
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

// mayHaveKey spares reading files as YAML, which is slow, that cannot have the key: it stands in the text as it is, or is
// written with escapes.
func mayHaveKey(text []byte) bool {
	return bytes.Contains(text, []byte(key)) || bytes.IndexByte(text, '\\') >= 0 && bytes.IndexByte(text, '"') >= 0
}

func hasKey(f *source.File) bool {
	return f.Root != nil && f.Root.Kind == source.Object && f.Root.Get(key) != nil
}
