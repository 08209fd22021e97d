"""Pictures made ready to be looked at: upright, of a sensible size, and without anything a camera wrote into them."""

from __future__ import annotations

import io
import warnings

from PIL import Image, ImageOps, UnidentifiedImageError

from laneway.channels.attachments.documents.contract import Unreadable

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF")


def ready(content: bytes, side: int, pixels: int, *, gray: bool) -> tuple[bytes, int, int]:
    """The picture with no side longer than `side`, as JPEG or gray PNG; and how large it was, upright."""
    try:
        # The limit is ours: it is checked before anything is decoded.
        Image.MAX_IMAGE_PIXELS = None
        with warnings.catch_warnings(), Image.open(io.BytesIO(content), formats=FORMATS) as image:
            warnings.simplefilter("ignore")
            width, height = image.size
            if width * height > pixels:
                raise Unreadable(f"it has {width:,} × {height:,} pixels, which is too large to be looked at")
            upright = _upright(image)
            if upright:
                width, height = height, width
            return _saved(image, side, gray=gray), width, height
    except UnidentifiedImageError as error:
        raise Unreadable("it is no picture of a kind known here") from error
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, TypeError, ArithmeticError) as error:
        raise Unreadable("the picture is damaged") from error


def _upright(image: Image.Image) -> bool:
    """Whether the camera was held on its side."""
    return image.getexif().get(0x0112, 1) in (5, 6, 7, 8)


def _saved(image: Image.Image, side: int, *, gray: bool) -> bytes:
    image.draft("L" if gray else "RGB", (side, side))
    image.thumbnail((side, side))
    turned = ImageOps.exif_transpose(image)
    flat = Image.new("RGB", turned.size, "white")
    # What is see-through becomes white; a palette may be see-through, too.
    with_alpha = turned.convert("RGBA")
    flat.paste(with_alpha, mask=with_alpha.getchannel("A"))
    file = io.BytesIO()
    if gray:
        flat.convert("L").save(file, "PNG")
    else:
        flat.save(file, "JPEG", quality=85)
    return file.getvalue()
