package waiting

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/filetype"
)

// ImagesOf returns the paths of the images that a call is to show, none for most.
func ImagesOf(tool string, args json.RawMessage) ([]string, error) {
	if tool != ToolAskForm {
		return nil, nil
	}
	var in struct {
		Images []string `json:"images"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, fmt.Errorf("read the images of %s: %w", tool, err)
	}
	return in.Images, nil
}

// Images returns what a form has of images, from the message that they were read into: one for each path. The
// problem is for the model.
func Images(paths []string, m *echo.Message) (out []echo.Image, problem string) {
	for _, p := range m.Parts() {
		if p.Type != echo.PartImage {
			continue
		}
		kind, data, ok := echo.AttachmentData(&p)
		if !ok || !filetype.Image.Takes(kind) || len(out) == len(paths) {
			return nil, "What reads the images has returned something else."
		}
		sum := sha256.Sum256(data)
		x := echo.Image{Name: paths[len(out)], Type: kind, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
		if width, height, err := filetype.Size(data); err == nil {
			x.Width, x.Height = width, height
		}
		out = append(out, x)
	}
	if len(out) != len(paths) {
		return nil, fmt.Sprintf("What reads the images has returned %d for %d paths.", len(out), len(paths))
	}
	return out, ""
}
