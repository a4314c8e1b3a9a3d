import type { Page } from "playwright";

/**
 * Every colour of a picture, as `red,green,blue`.
 * @param page any page that may show `data:` images: it unpacks the picture
 * @param png bytes of the picture
 */
export function coloursOf(page: Page, png: Buffer): Promise<string[]> {
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context?.drawImage(image, 0, 0);
    const bytes = context?.getImageData(0, 0, image.width, image.height).data ?? [];
    const seen = new Set<string>();
    for (let at = 0; at < bytes.length; at += 4) {
      seen.add(`${bytes[at]},${bytes[at + 1]},${bytes[at + 2]}`);
    }
    return [...seen];
  }, png.toString("base64"));
}
