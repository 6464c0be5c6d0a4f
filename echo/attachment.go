package echo

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Tokens of what has no text. What providers count depends on the pixels and pages, which bytes do not
// tell; the provider's own figures correct an estimate from the first answer on.
const (
	imageTokens = 765      // of an image of 1024x1024 in high detail
	pageTokens  = 2000     // of a page of a PDF, which models get as its text and an image
	pageBytes   = 50 << 10 // a page for each of them begun
)

// AttachmentTokens estimates the tokens of a part that is an image or a PDF, 0 for a text.
func AttachmentTokens(p *Part) int64 {
	switch p.Type {
	case PartImage:
		return imageTokens
	case PartFile:
		bytes := int64(len(p.URL)) / 4 * 3 // of base64
		return (bytes + pageBytes - 1) / pageBytes * pageTokens
	case PartText:
	}
	return 0
}

// AttachmentData returns the media type and the bytes of a part with a data: URL; ok is false for others.
func AttachmentData(p *Part) (mediaType string, data []byte, ok bool) {
	rest, isData := strings.CutPrefix(p.URL, "data:")
	mediaType, text, isBase64 := strings.Cut(rest, ";base64,")
	data, err := base64.StdEncoding.DecodeString(text)
	return mediaType, data, isData && isBase64 && err == nil
}

// DataURL returns the data: URL of bytes.
func DataURL(mediaType string, data []byte) string {
	return "data:" + mediaType + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// AttachmentName says what a part without text holds, such as "image/png, 34 KB, sha256 1234abcd5678ef90";
// of a link its address.
func AttachmentName(p *Part) string {
	mediaType, data, ok := AttachmentData(p)
	if !ok {
		return p.URL
	}
	sum := sha256.Sum256(data)
	return NameAttachment(mediaType, int64(len(data)), hex.EncodeToString(sum[:]))
}

// NameAttachment is [AttachmentName] for what is known of a file. Models are sent it, so it stays as it is.
func NameAttachment(mediaType string, bytes int64, sum string) string {
	size := fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	if kb := (bytes + 500) / 1000; kb < 1000 {
		size = fmt.Sprintf("%d KB", max(kb, 1))
	}
	return fmt.Sprintf("%s, %s, sha256 %s", mediaType, size, sum[:16])
}

// ReadContent reads what [Message.ContentJSON] returns.
func ReadContent(content []byte) ([]Part, error) {
	var text *string
	if json.Unmarshal(content, &text) == nil {
		if text == nil {
			return nil, nil
		}
		return Text(*text), nil
	}
	var list []struct {
		Type     PartType `json:"type"`
		Text     string   `json:"text"`
		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
		File struct {
			Data string `json:"file_data"`
			Name string `json:"filename"`
		} `json:"file"`
	}
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, err
	}
	parts := make([]Part, len(list))
	for i, p := range list {
		switch p.Type {
		case PartText:
			parts[i] = Part{Type: PartText, Text: p.Text}
		case PartFile:
			parts[i] = Part{Type: PartFile, URL: p.File.Data, Name: p.File.Name}
		default:
			parts[i] = Part{Type: PartImage, URL: p.ImageURL.URL}
		}
	}
	return parts, nil
}
