package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/filetype"
)

// Limits of the images of a question. A browser needs 4 bytes for a pixel, however small the file is.
const (
	MaxImage  = 4 << 20 // bytes of one
	MaxImages = 8 << 20 // bytes of all together
	maxPixels = 64_000_000
)

// imagesTool reads the images that a person sees with a question. Its calls are those of the engine.
func imagesTool(f *folders) tool {
	return tool{
		spec: effect.ToolSpec{Name: effect.ImagesTool},
		run: func(ctx context.Context, c *call) effect.ToolResult {
			var args struct {
				Paths []string `json:"paths"`
			}
			err := json.Unmarshal(c.Arguments, &args)
			if err == nil {
				var parts []echo.Part
				if parts, err = f.images(ctx, args.Paths); err == nil {
					return effect.ToolResult{Parts: parts}
				}
			}
			return failedOf(err)
		},
	}
}

// images returns a text that says what was read, and the images.
func (f *folders) images(ctx context.Context, paths []string) ([]echo.Part, error) {
	var parts []echo.Part
	var lines []string
	total := 0
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := f.find(path)
		if err != nil {
			return nil, err
		}
		part, size, err := f.image(p)
		if err != nil {
			return nil, err
		}
		if total += size; total > MaxImages {
			return nil, &failure{kindOutputLimit, fmt.Errorf("read %s: with it, the images have more than %d MiB together", p.show, MaxImages>>20)}
		}
		lines = append(lines, fmt.Sprintf("[image %s: %s]", p.show, echo.AttachmentName(&part)))
		parts = append(parts, part)
	}
	return append(echo.Text(strings.Join(lines, "\n")), parts...), nil
}

func (f *folders) image(p place) (part echo.Part, size int, err error) {
	file, info, err := f.open("read", p)
	if err != nil {
		return part, 0, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	if info.IsDir() {
		return part, 0, fmt.Errorf("read %s: it is a folder; use list_files", p.show)
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxImage+1))
	if err != nil {
		return part, 0, f.explain("read", p, err)
	}
	kind, err := imageType(data)
	if err != nil {
		return part, 0, &failure{kindUnsupported, fmt.Errorf("read %s: %w", p.show, err)}
	}
	part = echo.Part{Type: echo.PartImage, URL: echo.DataURL(kind, data)}
	if f.secrets.Has(string(data)) || f.secrets.Has(part.URL) {
		return part, 0, &failure{kindNotAllowed, fmt.Errorf("read %s: it has the value of a known secret, which nobody is shown", p.show)}
	}
	return part, len(data), nil
}

// imageType returns the type of an image by its first bytes. Its name says nothing.
func imageType(data []byte) (string, error) {
	kind, whole := filetype.Of(data)
	switch {
	case len(data) > MaxImage:
		return "", fmt.Errorf("it has more than %d MiB", MaxImage>>20)
	case len(data) == 0:
		return "", errors.New("it is empty")
	case !filetype.Image.Takes(kind):
		return "", errors.New("it is no image by its first bytes: png, jpeg, gif and webp are shown")
	case !whole:
		return "", fmt.Errorf("it is only the beginning of an image (%s)", kind)
	}
	width, height, err := filetype.Size(data)
	switch {
	case err != nil:
		return "", fmt.Errorf("it is a broken image: %w", err)
	case width > maxPixels/max(height, 1):
		return "", fmt.Errorf("it has %d × %d pixels, more than %d million", width, height, maxPixels/1_000_000)
	}
	return kind, nil
}
