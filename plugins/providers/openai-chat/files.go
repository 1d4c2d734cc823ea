package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/compose"
)

func hasFile(parts []abi.Part) bool {
	for _, p := range parts {
		if p.Type == abi.PartImage || p.Type == abi.PartFile {
			return true
		}
	}
	return false
}

// appendParts appends the array of parts that content is where there is more
// than text. The contents of an image or file are the address itself.
func appendParts(dst []byte, parts []abi.Part) []byte {
	dst = append(dst, '[')
	first := true
	for _, p := range parts {
		text := p.Type == abi.PartText && p.Text != ""
		if !text && p.Type != abi.PartImage && p.Type != abi.PartFile {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		switch {
		case text:
			dst = append(dst, `{"type":"text","text":`...)
			dst = append(compose.AppendText(dst, p.Text), '}')
		case p.Type == abi.PartImage:
			dst = append(dst, `{"type":"image_url","image_url":{"url":`...)
			dst = append(compose.AppendText(dst, dataURL(p)), '}', '}')
		default:
			dst = append(dst, `{"type":"file","file":{"filename":`...)
			dst = compose.AppendText(dst, fileName(p))
			dst = append(dst, `,"file_data":`...)
			dst = append(compose.AppendText(dst, dataURL(p)), '}', '}')
		}
	}
	return append(dst, ']')
}

func dataURL(p abi.Part) string {
	return "data:" + p.MediaType + ";base64,{{blob:" + p.Blob + "}}"
}

// fileName returns a name: servers tell by its end what kind of file it is.
func fileName(p abi.Part) string {
	switch {
	case p.Name != "":
		return p.Name
	case p.MediaType == "application/pdf":
		return "file.pdf"
	}
	return "file"
}
