package waits

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/filetype"
	"github.com/windlass-run/windlass/internal/wholefile"
)

// NoImageError says that an image of a wait cannot be shown.
type NoImageError struct {
	Wait string
	N    int // which one, from 1
	Of   int // how many the wait has
}

func (e *NoImageError) Error() string {
	switch {
	case e.Of == 0:
		return fmt.Sprintf("the wait %s has no images", e.Wait)
	case e.N < 1 || e.N > e.Of:
		return fmt.Sprintf("the wait %s has the images 1 to %d, and no %d", e.Wait, e.Of, e.N)
	}
	return fmt.Sprintf("image %d of the wait %s was taken out of the record", e.N, e.Wait)
}

// Picture is an image of a wait with its bytes.
type Picture struct {
	echo.Image
	File string // the name of a file for it, see [ImageFile]
	Data []byte
}

// Image returns an image of a wait by its number, from 1, as it is recorded: the file that it comes from does not
// matter any more. The error is a [*NoImageError] when there is none.
func (d Desk) Image(w *Wait, n int) (*Picture, error) {
	all := w.Images()
	none := &NoImageError{Wait: w.ID, N: n, Of: len(all)}
	if n < 1 || n > len(all) {
		return nil, none
	}
	rec, err := journal.Read(filepath.Join(config.SessionDir(d.Home, w.Session), journal.File))
	if err != nil {
		return nil, stored(fmt.Errorf("read the images of wait %s: %w", w.ID, err))
	}
	for _, e := range rec.Entries {
		if e.NodeType != echo.NodeToolCall || e.Key != echo.ImagesKey(w.Key) || e.Message == nil {
			continue
		}
		x, data := all[n-1], imageOf(e.Message, n)
		if kind, _ := filetype.Of(data); kind == x.Type && filetype.Image.Takes(kind) && sumOf(data) == x.SHA256 {
			return &Picture{Image: x, File: ImageFile(&x, n), Data: data}, nil
		}
	}
	return nil, none
}

// Images returns what is known of the images of a wait.
func (w *Wait) Images() []echo.Image {
	if w.Form == nil {
		return nil
	}
	return w.Form.Images
}

// AboutImage says what an image is: its type, its size in pixels where that is known, and in bytes.
func AboutImage(x *echo.Image) string {
	var size string
	if x.Width > 0 && x.Height > 0 {
		size = fmt.Sprintf("%d × %d pixels, ", x.Width, x.Height)
	}
	return fmt.Sprintf("%s, %s%d bytes", x.Type, size, x.Bytes)
}

// unsafeInFile is what the name of a file does not have that windlass makes of another one.
var unsafeInFile = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// ImageFile returns the name of a file for an image by its number, which is safe in every folder: only its words come
// from the name of the image.
func ImageFile(x *echo.Image, n int) string {
	const most = 40 // characters of the name
	name := x.Name[strings.LastIndexAny(x.Name, `/\`)+1:]
	if at := strings.LastIndexByte(name, '.'); at > 0 {
		name = name[:at]
	}
	name = unsafeInFile.ReplaceAllString(name, "-")
	name = strings.Trim(name[:min(len(name), most)], "-")
	if name == "" {
		name = "image"
	}
	return fmt.Sprintf("%d-%s.%s", n, name, strings.TrimPrefix(x.Type, "image/"))
}

func imageOf(m *echo.Message, n int) []byte {
	for _, p := range m.Parts() {
		if p.Type != echo.PartImage {
			continue
		}
		if n--; n == 0 {
			_, data, _ := echo.AttachmentData(&p)
			return data
		}
	}
	return nil
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

const tryFolder = "--save-images with another folder"

// Saved is an image of a question that was written as a file.
type Saved struct {
	File string `json:"file"`
	echo.Image
}

// SaveImages writes the images of a wait into a folder, which it makes when there is none. Files that exist stay as they
// are: then, and when an image is not there, nothing is written. The error has the kind InvalidRequest when another
// folder helps.
func (d Desk) SaveImages(w *Wait, folder string) ([]Saved, error) {
	var out []Saved
	var all []*Picture
	for i := range max(len(w.Images()), 1) {
		x, err := d.Image(w, i+1)
		switch none := new(NoImageError); {
		case errors.As(err, &none):
			return nil, failure.New(failure.InvalidRequest, err, "windlass answer "+w.ID)
		case err != nil:
			return nil, err
		}
		file := filepath.Join(folder, x.File)
		if _, err := os.Lstat(file); err == nil {
			return nil, failure.New(failure.InvalidRequest, fmt.Errorf("%s exists and is not overwritten", file), tryFolder)
		}
		all, out = append(all, x), append(out, Saved{file, x.Image})
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, failure.New(failure.InvalidRequest, fmt.Errorf("make a folder for images: %w", err), tryFolder)
	}
	for i, x := range all {
		if err := wholefile.WriteNew(out[i].File, x.Data, 0o600); err != nil {
			return nil, failure.New(failure.InvalidRequest, fmt.Errorf("write an image: %w", err), tryFolder)
		}
	}
	return out, nil
}
