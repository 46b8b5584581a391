// Where the device has no font for Chinese, all its letters look alike: xiangqi's pieces show Latin ones instead.
(() => {
  const look = (text) => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 20, height: 20 });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.font = "16px sans-serif";
    context.fillText(text, 1, 16);
    return context.getImageData(0, 0, 20, 20).data.join();
  };
  document.documentElement.classList.toggle("no-han", look("帥") === look("炮"));
})();
