import type { ChartUnit } from "../../protocol/webview";
import { shortened } from "./marks";
import type { Theme } from "./theme";
import { unitName } from "./units";

/** What stands on a picture: a chart's heading, and its canvas. */
export interface Pictured {
  readonly info: { readonly title: string; readonly unit: ChartUnit };
  readonly picture: { readonly canvas: HTMLCanvasElement; readonly lines: readonly { color: string; text: string }[] };
}

const gap = 16;
const headHeight = 40;
const titleHeight = 34;
/** A picture is no wider than this many charts. */
const mostColumns = 3;

/** All charts with their titles under a heading as one PNG, as they are drawn. */
export async function chartsImage(
  heading: string,
  cards: readonly Pictured[],
  theme: Theme,
): Promise<Uint8Array | undefined> {
  const pictures = cards.map((card) => ({ info: card.info, ...card.picture }));
  const scale = devicePixelRatio;
  const width = Math.max(200, ...pictures.map(({ canvas }) => canvas.width / scale));
  const height = Math.max(100, ...pictures.map(({ canvas }) => canvas.height / scale)) + titleHeight;
  const columns = Math.min(mostColumns, Math.max(1, pictures.length));
  const rows = Math.ceil(pictures.length / columns);
  const image = document.createElement("canvas");
  image.width = (columns * (width + gap) + gap) * scale;
  image.height = (headHeight + rows * (height + gap) + gap) * scale;
  const context = image.getContext("2d");
  if (!context) return undefined;
  context.scale(scale, scale);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, image.width, image.height);
  context.textBaseline = "middle";
  context.fillStyle = theme.foreground;
  context.font = `bold 13px ${theme.font}`;
  context.fillText(shortened(context, heading, image.width / scale - 2 * gap), gap, headHeight / 2 + 4);
  for (const [index, picture] of pictures.entries()) {
    const left = gap + (index % columns) * (width + gap);
    const top = headHeight + Math.floor(index / columns) * (height + gap);
    drawHead(context, picture, { left, top, width }, theme);
    const { canvas } = picture;
    context.drawImage(canvas, left, top + titleHeight, canvas.width / scale, canvas.height / scale);
  }
  const blob = await new Promise<Blob | null>((resolve) => {
    image.toBlob(resolve, "image/png");
  });
  return blob ? new Uint8Array(await blob.arrayBuffer()) : undefined;
}

function drawHead(
  context: CanvasRenderingContext2D,
  { info, lines }: Pick<Pictured, "info"> & Pictured["picture"],
  { left, top, width }: { readonly left: number; readonly top: number; readonly width: number },
  theme: Theme,
): void {
  context.fillStyle = theme.foreground;
  context.font = `bold 12px ${theme.font}`;
  context.fillText(`${info.title} ${unitName(info.unit)}`, left, top + 8);
  context.font = `11px ${theme.font}`;
  let at = left;
  for (const { color, text } of lines) {
    if (at > left && at + context.measureText(text).width + 24 > left + width) break;
    const fitting = shortened(context, text, left + width - at - 12);
    const wide = context.measureText(fitting).width + 24;
    context.fillStyle = color;
    context.fillRect(at, top + 21, 8, 8);
    context.fillStyle = theme.muted;
    context.fillText(fitting, at + 12, top + 25);
    at += wide;
  }
}
