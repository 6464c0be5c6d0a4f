package tool_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/secret"
	"github.com/windlass-run/windlass/internal/tool"
)

func pngOf(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return b.String()
}

// readImages calls the tool that reads the images of a question.
func (b testBundle) readImages(t *testing.T, paths ...string) effect.ToolResult {
	t.Helper()
	args, err := json.Marshal(map[string][]string{"paths": paths})
	require.NoError(t, err)
	res, err := b.reg.Call(context.Background(), effect.ToolRequest{Name: effect.ImagesTool, Arguments: args, SessionID: "s1"})
	require.NoError(t, err)
	return res
}

// The images of a question are what their first bytes say, whatever they are called, and stand in the order of the paths.
func TestImages(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{})
	var jpg, anim bytes.Buffer
	pixels := image.NewPaletted(image.Rect(0, 0, 4, 3), color.Palette{color.Black})
	require.NoError(t, jpeg.Encode(&jpg, pixels, nil))
	require.NoError(t, gif.Encode(&anim, pixels, nil))
	b.file(t, "plots/a.txt", pngOf(t, 4, 3))
	b.file(t, "b.png", jpg.String())
	b.file(t, "c", anim.String())
	b.file(t, "d", "RIFF\x16\x00\x00\x00WEBPVP8L\x0a\x00\x00\x00\x2f\x03\x80\x00\x00"+strings.Repeat("\x00", 20))
	res := b.readImages(t, "plots/a.txt", "./b.png", "c", filepath.Join(b.dir, "d"))
	require.False(t, res.Failed, "%v", res.Parts)
	require.Len(t, res.Parts, 5)
	var types []string
	for _, p := range res.Parts[1:] {
		require.Equal(t, echo.PartImage, p.Type)
		kind, data, ok := echo.AttachmentData(&p)
		require.True(t, ok)
		require.NotEmpty(t, data)
		types = append(types, kind)
	}
	require.Equal(t, []string{"image/png", "image/jpeg", "image/gif", "image/webp"}, types)
	require.Regexp(t, `^\[image plots/a\.txt: image/png, 1 KB, sha256 [0-9a-f]{16}\]\n\[image b\.png: image/jpeg, .*\n.*\n\[image d: image/webp, `, res.Parts[0].Text)
	_, offered := b.reg.Spec(effect.ImagesTool)
	require.False(t, offered, "no model calls it")
}

// What is no image, is too large or may not be read is refused, with the reason for the model.
func TestImagesRefused(t *testing.T) {
	t.Parallel()
	const known = "sk-known-0123456789"
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "a.png"), []byte(pngOf(t, 1, 1)), 0o600))
	private := filepath.Join(t.TempDir(), "home")
	require.NoError(t, os.MkdirAll(private, 0o700))
	b := setup(t, tool.Options{Roots: []string{t.TempDir(), filepath.Dir(private)}, Private: []string{private}, Secrets: secret.New(secret.Value{Name: "KNOWN", Value: known})})
	require.NoError(t, os.WriteFile(filepath.Join(private, "a.png"), []byte(pngOf(t, 1, 1)), 0o600))
	whole := pngOf(t, 1, 1)
	b.file(t, "good.png", whole)
	b.file(t, "page.png", "<!DOCTYPE html><script>alert(1)</script>"+strings.Repeat(" ", 100))
	b.file(t, "vector.png", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`+strings.Repeat(" ", 100))
	b.file(t, "both.png", "\x89PNG\r\n\x1a\n<html><script>alert(1)</script></html>"+strings.Repeat(" ", 100))
	b.file(t, "paper.png", "%PDF-1.7"+strings.Repeat(" ", 100))
	b.file(t, "empty.png", "")
	b.file(t, "cut.png", whole[:20])
	b.file(t, "large.png", whole+strings.Repeat("x", tool.MaxImage))
	b.file(t, "half.png", whole+strings.Repeat("x", tool.MaxImage-len(whole)))
	b.file(t, "key.png", whole+known)
	head := "IHDR\x00\x01\x00\x00\x00\x01\x00\x00" + whole[24:29] // 65536 × 65536
	b.file(t, "huge.png", whole[:12]+head+string(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(head))))+whole[33:])
	require.NoError(t, os.Symlink(filepath.Join(outside, "a.png"), filepath.Join(b.dir, "link.png")))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(b.dir, "zero.png")))
	require.NoError(t, os.Symlink("good.png", filepath.Join(b.dir, "inside.png")))
	for _, c := range []struct {
		paths      []string
		kind, text string
	}{
		{[]string{"good.png", "none.png"}, "not_found", "read none.png: there is no such file; list_files shows what there is"},
		{[]string{"."}, "failed", "read .: it is a folder; use list_files"},
		{[]string{"page.png"}, "unsupported", "read page.png: it is no image by its first bytes: png, jpeg, gif and webp are shown"},
		{[]string{"vector.png"}, "unsupported", "read vector.png: it is no image by its first bytes: png, jpeg, gif and webp are shown"},
		{[]string{"paper.png"}, "unsupported", "read paper.png: it is no image by its first bytes: png, jpeg, gif and webp are shown"},
		{[]string{"both.png"}, "unsupported", "read both.png: it is a broken image: unexpected EOF"},
		{[]string{"empty.png"}, "unsupported", "read empty.png: it is empty"},
		{[]string{"cut.png"}, "unsupported", "read cut.png: it is only the beginning of an image (image/png)"},
		{[]string{"large.png"}, "unsupported", "read large.png: it has more than 4 MiB"},
		{[]string{"huge.png"}, "unsupported", "read huge.png: it has 65536 × 65536 pixels, more than 64 million"},
		{[]string{"half.png", "half.png", "good.png"}, "output_limit", "read good.png: with it, the images have more than 8 MiB together"},
		{[]string{"key.png"}, "not_allowed", "read key.png: it has the value of a known secret, which nobody is shown"},
		{[]string{"link.png"}, "not_allowed", "read link.png: a symbolic link in it leads outside the granted folder"},
		{[]string{"zero.png"}, "not_allowed", "read zero.png: a symbolic link in it leads outside the granted folder"},
		{[]string{"a\x00.png"}, "invalid_arguments", "a path cannot hold a NUL character"},
		{[]string{strings.Repeat("x", 5000)}, "invalid_arguments", "the path has 5000 bytes, more than 4096"},
	} {
		res := b.readImages(t, c.paths...)
		require.True(t, res.Failed, c.text)
		require.Equal(t, []any{c.kind, c.text}, []any{res.Kind, res.Parts[0].Text})
		require.Len(t, res.Parts, 1, "nothing is shown")
	}
	for _, path := range []string{"../a.png", filepath.Join(outside, "a.png"), "/dev/zero", filepath.Join(private, "a.png")} {
		res := b.readImages(t, path)
		require.True(t, res.Failed)
		require.Equal(t, b.fails(t, "not_allowed", tool.ReadFile, fmt.Sprintf(`{"path":%q}`, path)), res.Parts[0].Text, "as read_file refuses it")
	}
	require.False(t, b.readImages(t, "inside.png").Failed)
	require.False(t, b.readImages(t, "half.png", "half.png").Failed)
}
