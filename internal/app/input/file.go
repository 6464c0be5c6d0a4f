package input

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/filetype"
	"github.com/windlass-run/windlass/internal/source"
)

// Limits of files that a run is given, in bytes.
const (
	MaxFile  = 10 << 20
	MaxFiles = 20 << 20 // all files of a run together
)

// File is a file that a run is given as an input.
type File struct {
	Path string
	engine.File
}

// Marker returns the text that stands for the file where a template uses the input.
func (f *File) Marker() string {
	what := "file"
	if filetype.Image.Takes(f.Type) {
		what = "image"
	}
	return fmt.Sprintf("[%s %s: %s]", what, f.Input, echo.NameAttachment(f.Type, f.Bytes, f.SHA256))
}

// ReadFile reads the file for an input that takes files of a kind. What the file is follows from its
// first bytes, whatever its name. An error names the path.
func ReadFile(name, path string, kind filetype.Kind) (*File, error) {
	data, err := source.ReadFile(path, MaxFile)
	switch {
	case errors.Is(err, source.ErrTooLarge):
		return nil, fmt.Errorf("%s has more than %d MiB, the limit of a file that is an input", path, MaxFile>>20)
	case err != nil:
		return nil, err
	case len(data) == 0:
		return nil, fmt.Errorf("%s is empty", path)
	}
	is, whole := filetype.Of(data)
	switch {
	case is == "":
		return nil, fmt.Errorf("%s is no %s: its first bytes are those of no png, jpeg, gif, webp or pdf", path, kind.Noun())
	case !whole:
		return nil, fmt.Errorf("%s is cut off: it ends within the head of a file of type %s", path, is)
	case !kind.Takes(is):
		return nil, fmt.Errorf("%s is of type %s, and the input %q takes %s", path, is, name, kind)
	}
	sum := sha256.Sum256(data)
	return &File{path, engine.File{
		Input: name, Type: is, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:]),
		URL: echo.DataURL(is, data),
	}}, nil
}

// Together returns the files of a run in the order of their names. An error says that they are too
// large together.
func Together(files map[string]*File) ([]engine.File, error) {
	var list []engine.File
	var sum int64
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		if sum += f.Bytes; sum > MaxFiles {
			return nil, fmt.Errorf("--input %s: with %s, the files of the run have more than %d MiB together", name, f.Path, MaxFiles>>20)
		}
		list = append(list, f.File)
	}
	return list, nil
}
