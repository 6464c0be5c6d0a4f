package echo

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A message with a file is encoded as providers are sent it, and read again from record and content.
func TestAttachments(t *testing.T) {
	t.Parallel()
	paper := Part{Type: PartFile, URL: "data:application/pdf;base64,JVBERi0=", Name: "paper.pdf"}
	m := Seal(Draft{Role: RoleUser, Kind: KindTask, Parts: []Part{{Type: PartText, Text: "Read."}, paper, {Type: PartImage, URL: "https://host/a.png"}}})
	require.Equal(t, `{"content":[{"text":"Read.","type":"text"},{"file":{"file_data":"data:application/pdf;base64,JVBERi0=","filename":"paper.pdf"},"type":"file"},`+
		`{"image_url":{"url":"https://host/a.png"},"type":"image_url"}],"role":"user"}`, string(m.JSON()))
	parts, err := ReadContent(m.ContentJSON())
	require.NoError(t, err)
	require.Equal(t, m.Parts(), parts)
	written, err := m.MarshalJSON()
	require.NoError(t, err)
	plain, err := json.Marshal(m.Draft())
	require.NoError(t, err)
	require.Equal(t, string(plain), string(written))
	var read Message
	require.NoError(t, json.Unmarshal(written, &read))
	require.Equal(t, m.Digest(), read.Digest())
	require.Equal(t, "Read.", m.Text())

	require.Equal(t, "application/pdf, 1 KB, sha256 38523c087796e5d5", AttachmentName(&m.Parts()[1]))
	require.Equal(t, "https://host/a.png", AttachmentName(&m.Parts()[2]))
	require.Equal(t, "image/png, 2.5 MB, sha256 0123456789abcdef", NameAttachment("image/png", 2_450_001, "0123456789abcdef0123"))
}

// The formula of docs/cascade.md: 765 tokens an image, 2,000 for each 50 KiB of a PDF.
func TestAttachmentTokens(t *testing.T) {
	t.Parallel()
	file := func(kib int) *Part { return &Part{Type: PartFile, URL: strings.Repeat("A", kib<<10/3*4)} }
	require.Equal(t, int64(765), AttachmentTokens(&Part{Type: PartImage, URL: strings.Repeat("A", 1<<20)}))
	require.Equal(t, int64(2000), AttachmentTokens(file(3)))
	require.Equal(t, int64(4000), AttachmentTokens(file(60)))
	require.Equal(t, int64(0), AttachmentTokens(&Part{Type: PartText, Text: "words"}))
}
