package waits_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/waits"
)

// withImages has a home with a session that shows two images in its question, and the message that they are recorded in.
func withImages(t *testing.T, change func(parts []echo.Part)) (waits.Desk, [][]byte) {
	t.Helper()
	var all [][]byte
	parts := echo.Text("two images")
	for width := range 2 {
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width+1, 1))))
		all = append(all, b.Bytes())
		parts = append(parts, echo.Part{Type: echo.PartImage, URL: echo.DataURL("image/png", b.Bytes())})
	}
	call := echo.ToolCall{Name: effect.ImagesTool}
	images, problem := waiting.Images([]string{"plots/load.png", "b"}, echo.NewToolResult(call, parts, false))
	require.Empty(t, problem)
	change(parts)
	d := deskOf(t)
	j, err := journal.Create(config.SessionDir(d.Home, "seen"), journal.Header{
		SessionID: "seen", Rules: 1, StartedAt: began, Cascade: json.RawMessage(`{"cascade_id":"c"}`), Input: json.RawMessage(`{}`),
	})
	require.NoError(t, err)
	read := &echo.Entry{NodeType: echo.NodeToolCall, Key: echo.ImagesKey(keyOf(0)), Message: echo.NewToolResult(call, parts, false), Tool: &echo.ToolUse{Name: call.Name}}
	read.ContentHash = read.Message.Hash()
	w := question(echo.Form{Kind: echo.FormText, Images: images})
	for i, e := range []*echo.Entry{read, echo.NewEntry(keyOf(0), w)} {
		e.SessionID, e.Seq, e.At, e.CascadeID, e.Phase = "seen", uint64(i+1), began, "c", "a"
		e.SetKeyFields()
		require.NoError(t, j.Write(e))
	}
	require.NoError(t, j.Close(t.Context()))
	return d, all
}

func seen(t *testing.T, d waits.Desk) *waits.Wait {
	t.Helper()
	w, err := d.Find(t.Context(), echo.WaitID("seen", keyOf(0)))
	require.NoError(t, err)
	return w
}

func TestImage(t *testing.T) {
	t.Parallel()
	d, all := withImages(t, func([]echo.Part) {})
	w := seen(t, d)
	for i, want := range []string{"1-load.png", "2-b.png"} {
		x, err := d.Image(w, i+1)
		require.NoError(t, err)
		require.Equal(t, all[i], x.Data)
		require.Equal(t, want, x.File)
		require.Equal(t, w.Images()[i], x.Image)
	}
	require.Equal(t, "image/png, 2 × 1 pixels, 72 bytes", waits.AboutImage(&w.Images()[1]))
	require.Equal(t, "image/webp, 7 bytes", waits.AboutImage(&echo.Image{Type: "image/webp", Bytes: 7}))
	for n, want := range map[int]string{0: "has the images 1 to 2, and no 0", 3: "has the images 1 to 2, and no 3", -1: "and no -1"} {
		_, err := d.Image(w, n)
		require.ErrorContains(t, err, "the wait "+w.ID+" ")
		require.ErrorContains(t, err, want)
	}
	_, err := d.Image(&waits.Wait{ID: "x"}, 1)
	require.EqualError(t, err, "the wait x has no images")
	w.Session = "none"
	_, err = d.Image(w, 1)
	require.True(t, failure.Is(err, failure.StorageFailed), "%v", err)
}

// What the record has in place of an image that was asked with is not shown: nothing, another image, or no image.
func TestImageThatIsNotRecorded(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(parts []echo.Part){
		"taken out": func(parts []echo.Part) { parts[1] = echo.Text("[redacted]")[0]; parts[2] = parts[1] },
		"another":   func(parts []echo.Part) { parts[1] = parts[2] },
		"HTML":      func(parts []echo.Part) { parts[1].URL = echo.DataURL("image/png", []byte("<script>")) },
		"no base64": func(parts []echo.Part) { parts[1].URL = "data:image/png;base64,?" },
		"a link":    func(parts []echo.Part) { parts[1].URL = "https://example.com/a.png" },
	} {
		d, _ := withImages(t, change)
		w := seen(t, d)
		_, err := d.Image(w, 1)
		require.EqualError(t, err, "image 1 of the wait "+w.ID+" was taken out of the record", name)
		folder := filepath.Join(t.TempDir(), "out")
		_, err = d.SaveImages(w, folder)
		require.True(t, failure.Is(err, failure.InvalidRequest), name)
		require.NoDirExists(t, folder, "nothing is half done")
	}
}

func TestSaveImages(t *testing.T) {
	t.Parallel()
	d, all := withImages(t, func([]echo.Part) {})
	w := seen(t, d)
	folder := filepath.Join(t.TempDir(), "a", "b")
	saved, err := d.SaveImages(w, folder)
	require.NoError(t, err)
	require.Len(t, saved, 2)
	for i, x := range saved {
		data, err := os.ReadFile(x.File)
		require.NoError(t, err)
		require.Equal(t, all[i], data)
	}
	require.NoError(t, os.WriteFile(saved[1].File, []byte("mine"), 0o600))
	require.NoError(t, os.Remove(saved[0].File))
	_, err = d.SaveImages(w, folder)
	require.EqualError(t, err, saved[1].File+" exists and is not overwritten")
	require.NoFileExists(t, saved[0].File, "nothing is half done")
	require.NoError(t, os.Remove(saved[1].File))
	require.NoError(t, os.Symlink("nowhere", saved[1].File))
	_, err = d.SaveImages(w, folder)
	require.ErrorContains(t, err, "exists and is not overwritten", "a link that leads nowhere, too")
	_, err = d.SaveImages(w, filepath.Join(folder, "2-b.png"))
	require.ErrorContains(t, err, "make a folder for images: ")
	_, err = d.SaveImages(&waits.Wait{ID: "x"}, folder)
	require.EqualError(t, err, "the wait x has no images")
}

// The names of files say nothing that a file system, a shell or a header of HTTP takes for anything but a name.
func TestImageFile(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.png": "3-a.png", "plots/q3 final.PNG": "3-q3-final.png", "../../etc/passwd": "3-passwd.png", `C:\x\y.png`: "3-y.png", "/": "3-image.png", "": "3-image.png",
		"..": "3-image.png", ".png": "3-png.png", "-rf.png": "3-rf.png", "con.png": "3-con.png", "a\r\nSet-Cookie: x.png": "3-a-Set-Cookie-x.png",
		`"; filename="evil.html`: "3-filename-evil.png", "a\u202egnp.exe": "3-a-gnp.png", "图.png": "3-image.png", "$(id)`id`.png": "3-id-id.png", "a.html.png": "3-a-html.png",
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.png": "3-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.png",
	} {
		require.Equal(t, want, waits.ImageFile(&echo.Image{Name: name, Type: "image/png"}, 3), "%q", name)
	}
}
