// Activity image — emits a sentence and a picture of when commits happen, drawn by the program
async () => {
  const commits = [];
  let cursor;
  do {
    const page = await connecta.call("git.log", cursor ? { limit: 100, cursor } : { limit: 100 });
    commits.push(...page.commits);
    cursor = page.nextCursor;
  } while (cursor && commits.length < 300);

  // Weekday and hour as the author's own clock showed them.
  const counts = Array.from({ length: 7 }, () => Array(24).fill(0));
  for (const { date } of commits) {
    const weekday = (new Date(`${date.slice(0, 10)}T00:00:00Z`).getUTCDay() + 6) % 7;
    counts[weekday][Number(date.slice(11, 13))]++;
  }
  const most = Math.max(1, ...counts.flat());
  const level = (count) => Math.ceil((count / most) * 5);

  // Seven rows of 24 squares, each 14 points wide in a field of 16: one colour number a point.
  const [FIELD, SQUARE] = [16, 14];
  const [width, height] = [24 * FIELD, 7 * FIELD];
  const gap = Array(width).fill(0);
  const rows = counts.flatMap((day) => {
    const inked = day.flatMap((count) => {
      const square = Array(SQUARE).fill(1 + level(count));
      return [...square, ...Array(FIELD - SQUARE).fill(0)];
    });
    return Array.from({ length: FIELD }, (_, y) => (y < SQUARE ? inked : gap));
  });

  // Nothing, an empty square, then one blue from thin to full: it shows on light and on dark.
  const palette = ["808080", "808080", ...Array(5).fill("3b82f6")];
  const opacity = [0, 48, 95, 135, 175, 215, 255];

  const bytes32 = (value) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);
  const crcTable = Array.from({ length: 256 }, (_, value) => {
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
    return value;
  });
  const crc = (bytes) => {
    let sum = -1;
    for (const byte of bytes) sum = crcTable[(sum ^ byte) & 255] ^ (sum >>> 8);
    return bytes32(~sum);
  };
  const adler = (bytes) => {
    let [a, b] = [1, 0];
    for (const byte of bytes) {
      a = (a + byte) % 65_521;
      b = (b + a) % 65_521;
    }
    return bytes32(((b << 16) | a) >>> 0);
  };
  const chunk = (type, body) => {
    const typed = [...Array.from(type, (letter) => letter.charCodeAt(0)), ...body];
    return [...bytes32(body.length), ...typed, ...crc(typed)];
  };

  // Two points a byte, each line led by its filter; stored as it is, which PNG allows.
  const lines = rows.flatMap((row) => {
    const packed = [0];
    for (let x = 0; x < width; x += 2) packed.push((row[x] << 4) | row[x + 1]);
    return packed;
  });
  const [low, high] = [lines.length & 255, lines.length >>> 8];
  const stored = [0x78, 1, 1, low, high, ~low & 255, ~high & 255, ...lines, ...adler(lines)];
  const hex = (text) => text.match(/../g).map((pair) => Number.parseInt(pair, 16));
  const png = [
    ...hex("89504e470d0a1a0a"),
    ...chunk("IHDR", [...bytes32(width), ...bytes32(height), 4, 3, 0, 0, 0]),
    ...chunk("PLTE", palette.flatMap(hex)),
    ...chunk("tRNS", opacity),
    ...chunk("IDAT", stored),
    ...chunk("IEND", []),
  ];

  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const base64 = (bytes) => {
    let text = "";
    for (let at = 0; at < bytes.length; at += 3) {
      const group = (bytes[at] << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
      for (const shift of [18, 12, 6, 0]) text += letters[(group >> shift) & 63];
    }
    const missing = (3 - (bytes.length % 3)) % 3;
    return text.slice(0, text.length - missing) + "=".repeat(missing);
  };

  await connecta.emit({
    type: "text",
    text: `When the last ${commits.length} commits were made: Monday to Sunday from the top, midnight to midnight from the left.`,
  });
  await connecta.emit({ type: "image", data: base64(png), mimeType: "image/png" });

  const days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
  const ranked = counts
    .flatMap((hours, day) =>
      hours.map((count, hour) => ({ when: `${days[day]} ${hour}:00`, count })),
    )
    .sort((a, b) => b.count - a.count);
  return { commits: commits.length, busiest: ranked.slice(0, 3).filter(({ count }) => count > 0) };
};
